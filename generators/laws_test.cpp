#include "generators/laws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>

#include "generators/test_blocks.h"

namespace bic {
namespace {

using testing_blocks::bytes_of;
using testing_blocks::matmul;
using testing_blocks::row;
using testing_blocks::values_of;

constexpr Law kLaws[] = {Law::kNormal,
                         Law::kUniform,
                         Law::kCancel,
                         Law::kEdge,
                         Law::kFactors,
                         Law::kWide,
                         Law::kOutlier,
                         Law::kLinspace,
                         Law::kOnes,
                         Law::kIntegers,
                         Law::kRamp,
                         Law::kMasks,
                         Law::kSweep,
                         Law::kSpecial,
                         Law::kNan,
                         Law::kInf,
                         Law::kDenormal,
                         Law::kHuge};

std::string test_name(const testing::TestParamInfo<std::tuple<DType, Law>>& info) {
  return std::string(name(std::get<0>(info.param))) + "_" +
         std::string(name(std::get<1>(info.param)));
}

class EveryLaw : public testing::TestWithParam<std::tuple<DType, Law>> {
 protected:
  FillProblem problem() const {
    return matmul(std::get<0>(GetParam()), std::get<1>(GetParam()), 257, 33, Seed{11});
  }
};

TEST_P(EveryLaw, BlocksDoNotDependOnThreadsOrOnWhatWasFilledBefore) {
  constexpr std::uint32_t kSamples = 12;
  std::vector<std::vector<std::byte>> alone(kSamples);
  for (std::uint32_t s = kSamples; s-- > 0;) alone[s] = bytes_of(problem(), 0, SampleId{s});
  std::vector<std::vector<std::byte>> together(kSamples);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t s = t; s < kSamples; s += 4) {
        together[s] = bytes_of(problem(), 0, SampleId{s});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
}

TEST_P(EveryLaw, CommonOperandsIgnoreTheSample) {
  EXPECT_EQ(bytes_of(problem(), 1, SampleId{3}), bytes_of(problem(), 1, SampleId{4}));
}

TEST_P(EveryLaw, WritesNothingBesideTheBlock) {
  const std::size_t width = static_cast<std::size_t>(size_of(problem().dtype));
  std::vector<std::byte> bytes(257 * width + 2, std::byte{0x5a});
  fill(problem(), 0, SampleId{1}, std::span(bytes).subspan(1, 257 * width));
  EXPECT_EQ(bytes.front(), std::byte{0x5a});
  EXPECT_EQ(bytes.back(), std::byte{0x5a});
  EXPECT_TRUE(
      std::equal(bytes.begin() + 1, bytes.end() - 1, bytes_of(problem(), 0, SampleId{1}).begin()));
}

TEST_P(EveryLaw, FillsScalarsAndEmptyBlocks) {
  FillProblem scalar = problem();
  scalar.operands = {{"x", {}, {}, false}, {"e", {0, 4}, {1}, false}};
  EXPECT_EQ(bytes_of(scalar, 0).size(), static_cast<std::size_t>(size_of(scalar.dtype)));
  EXPECT_TRUE(bytes_of(scalar, 1).empty());
}

INSTANTIATE_TEST_SUITE_P(Laws,
                         EveryLaw,
                         testing::Combine(testing::ValuesIn(kAllDTypes), testing::ValuesIn(kLaws)),
                         test_name);

TEST(Laws, SamplesSeedsAndNamesGiveOtherData) {
  FillProblem problem = row(DType::kFloat32, Law::kNormal, 64);
  const auto first = bytes_of(problem, 0, SampleId{1});
  EXPECT_NE(first, bytes_of(problem, 0, SampleId{2}));
  FillProblem seeded = problem;
  seeded.seed.value ^= 1;
  EXPECT_NE(first, bytes_of(seeded, 0, SampleId{1}));
  problem.operands[0].name = "y";
  EXPECT_NE(first, bytes_of(problem, 0, SampleId{1}));
}

TEST(Laws, NormalHasMeanZeroVarianceOneAndStaysInside) {
  double sum = 0;
  double squares = 0;
  double largest = 0;
  constexpr int kCount = 1 << 18;
  for (const double v : values_of(row(DType::kFloat64, Law::kNormal, kCount), 0)) {
    sum += v;
    squares += v * v;
    largest = std::max(largest, std::fabs(v));
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.01);
  EXPECT_LE(largest, 2 * std::sqrt(3.0));
  EXPECT_GT(largest, 3);
}

TEST(Laws, UniformFillsItsInterval) {
  const auto values = values_of(row(DType::kFloat32, Law::kUniform, 1 << 16), 0);
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*lowest, -1);
  EXPECT_LE(*highest, 1);
  EXPECT_LT(*lowest, -0.999);
  EXPECT_GT(*highest, 0.999);
}

/// Share of values whose last significant bit is set; on a grid it would be near 0.
double share_with_last_bit(DType dtype, Law law) {
  const auto values = values_of(row(dtype, law, 1 << 14), 0);
  int with_bit = 0;
  for (const double v : values) {
    int exponent = 0;
    const double significand = std::ldexp(std::frexp(v, &exponent), precision(dtype));
    with_bit += std::fmod(significand, 2) != 0;
  }
  return static_cast<double>(with_bit) / static_cast<double>(values.size());
}

TEST(Laws, SignificandsAreFull) {
  for (const DType dtype : kAllDTypes) {
    for (const Law law : {Law::kNormal, Law::kUniform, Law::kWide}) {
      EXPECT_NEAR(share_with_last_bit(dtype, law), 0.5, 0.03) << name(dtype) << name(law);
    }
  }
  EXPECT_LT(share_with_last_bit(DType::kFloat32, Law::kIntegers), 0.01);
}

TEST(Laws, LinspaceRunsFromMinus100To100) {
  EXPECT_THAT(values_of(row(DType::kFloat32, Law::kLinspace, 5), 0),
              testing::ElementsAre(-100, -50, 0, 50, 100));
}

TEST(Laws, WideSpansFortyBinades) {
  std::set<int> exponents;
  for (const double v : values_of(row(DType::kBFloat16, Law::kWide, 4096), 0)) {
    exponents.insert(std::ilogb(v));
  }
  EXPECT_GE(*exponents.begin(), -20);
  EXPECT_LE(*exponents.rbegin(), 21);  // 1.11..2 * 2^20 rounds up
  EXPECT_GE(exponents.size(), 41U);
}

TEST(Laws, OutlierChannelsAreTheSameInAllSamples) {
  const FillProblem problem = row(DType::kFloat32, Law::kOutlier, 512);
  std::vector<double> most(512);
  for (std::uint32_t s = 0; s < 64; ++s) {
    const auto values = values_of(problem, 0, SampleId{s});
    for (std::size_t i = 0; i < 512; ++i) most[i] = std::max(most[i], std::fabs(values[i]));
  }
  const auto channels = std::count_if(most.begin(), most.end(), [](double v) { return v > 30; });
  const auto others = std::count_if(most.begin(), most.end(), [](double v) { return v < 4; });
  EXPECT_GE(channels, 1);
  EXPECT_LE(channels, 16);
  EXPECT_EQ(channels + others, 512);
}

TEST(Laws, SweepHoldsEveryPatternOfSixteenBitsOnce) {
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    FillProblem problem = row(dtype, Law::kSweep, 192);  // not a divisor of 65,536
    problem.operands[0].reduced = {};
    std::vector<int> seen(65536);
    std::size_t left = 65536;
    for (std::uint32_t s = 0; left > 0; ++s) {
      const auto bytes = bytes_of(problem, 0, SampleId{s});
      for (std::size_t i = 0; i < std::min<std::size_t>(left, 192); ++i) {
        const auto low = std::to_integer<unsigned>(bytes[2 * i]);
        seen[low | std::to_integer<unsigned>(bytes[2 * i + 1]) << 8] += 1;
      }
      left -= std::min<std::size_t>(left, 192);
    }
    EXPECT_THAT(seen, testing::Each(1));
  }
}

TEST(Laws, SpecialMixesEveryKind) {
  for (const DType dtype : kAllDTypes) {
    int nans = 0, infinities = 0, zeros = 0, subnormals = 0, ordinary = 0;
    const double normal = dtype == DType::kFloat16   ? 0x1p-14
                          : dtype == DType::kFloat64 ? 0x1p-1022
                                                     : 0x1p-126;
    for (const double v : values_of(row(dtype, Law::kSpecial, 4096), 0)) {
      nans += std::isnan(v);
      infinities += std::isinf(v);
      zeros += v == 0 && std::signbit(v);
      subnormals += v != 0 && std::fabs(v) < normal;
      ordinary += std::fabs(v) >= normal && std::fabs(v) < 4;
    }
    EXPECT_GT(std::min({nans, infinities, zeros, subnormals}), 150) << name(dtype);
    EXPECT_GT(ordinary, 2000) << name(dtype);
  }
}

TEST(Laws, HostileLawsHoldNothingElse) {
  for (const DType dtype : kAllDTypes) {
    const double normal = dtype == DType::kFloat16   ? 0x1p-14
                          : dtype == DType::kFloat64 ? 0x1p-1022
                                                     : 0x1p-126;
    const double top = dtype == DType::kFloat16   ? 0x1p15
                       : dtype == DType::kFloat64 ? 0x1p1023
                                                  : 0x1p127;
    for (const double v : values_of(row(dtype, Law::kNan, 100), 0)) EXPECT_TRUE(std::isnan(v));
    for (const double v : values_of(row(dtype, Law::kInf, 100), 0)) EXPECT_TRUE(std::isinf(v));
    for (const double v : values_of(row(dtype, Law::kDenormal, 100), 0)) {
      EXPECT_TRUE(v != 0 && std::fabs(v) < normal) << v;
    }
    for (const double v : values_of(row(dtype, Law::kHuge, 100), 0)) {
      EXPECT_TRUE(std::isfinite(v) && std::fabs(v) >= top) << v;
    }
  }
}

/// Largest sum of |x| |w| over the columns of a problem.
double largest_sum(const FillProblem& problem, std::size_t columns) {
  const auto x = values_of(problem, 0);
  const auto w = values_of(problem, 1);
  double largest = 0;
  for (std::size_t n = 0; n < columns; ++n) {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += std::fabs(x[k] * w[k * columns + n]);
    largest = std::max(largest, sum);
  }
  return largest;
}

TEST(Laws, SumsStayInsideFp16) {
  for (const Law law : {Law::kCancel, Law::kWide, Law::kRamp, Law::kOnes}) {
    for (const std::int64_t k : {1, 16, 257, 4096, 20000}) {
      EXPECT_LT(largest_sum(matmul(DType::kFloat16, law, k, 4, Seed{3}), 4), 0x1p15)
          << name(law) << k;
    }
  }
}

TEST(Laws, RampAndIntegersSumExactlyInFp32) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
    const double unit = dtype == DType::kFloat16 ? 0x1p-9 : 1;
    for (const std::int64_t k : {2, 17, 1024, 4096, 65536}) {
      EXPECT_LE(largest_sum(matmul(dtype, Law::kRamp, k, 4, Seed{3}), 4), 0x1p24 * unit) << k;
      EXPECT_LE(largest_sum(matmul(dtype, Law::kIntegers, k, 4, Seed{3}), 4), 0x1p24) << k;
    }
    for (const double v : values_of(matmul(dtype, Law::kRamp, 999, 1, Seed{3}), 0)) {
      EXPECT_EQ(v / unit, std::trunc(v / unit));
    }
  }
}

}  // namespace
}  // namespace bic
