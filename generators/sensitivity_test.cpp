// For each law a fault that it shows and that goes unseen without it. Faults are other orders of a
// sum, dropped terms, rounded or mistaken inputs.
#include <gtest/gtest.h>

#include <cmath>

#include "generators/laws.h"
#include "generators/test_blocks.h"

namespace bic {
namespace {

using testing_blocks::add;
using testing_blocks::matmul;
using testing_blocks::products;
using testing_blocks::row;
using testing_blocks::Sum;
using testing_blocks::values_of;

constexpr std::size_t kColumns = 32;
constexpr std::uint64_t kProblems = 40;

/// What an implementation does with the products of one output.
using Evaluate = std::function<float(std::span<const float>)>;

Evaluate in_order(Sum order) {
  return [order](std::span<const float> terms) { return add(order, terms); };
}

/// Share of outputs of 40 problems that `fault` changes. `factor_law` is the law of w.
double share_changed(DType dtype, Law law, Law factor_law, std::int64_t k, const Evaluate& fault) {
  int changed = 0;
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
    const FillProblem problem = matmul(dtype, law, k, kColumns, Seed{seed});
    const auto x = values_of(problem, 0, SampleId{7});
    const auto w = values_of(matmul(dtype, factor_law, k, kColumns, Seed{seed}), 1);
    for (std::size_t n = 0; n < kColumns; ++n) {
      const auto terms = products(x, w, kColumns, n);
      const double right = round_to(dtype, add(Sum::kSequential, terms));
      changed += right != round_to(dtype, fault(terms));
    }
  }
  return static_cast<double>(changed) / static_cast<double>(kProblems * kColumns);
}

double share_changed(DType dtype, Law law, std::int64_t k, const Evaluate& fault) {
  return share_changed(dtype, law, law, k, fault);
}

class CancelLaw : public testing::TestWithParam<std::int64_t> {};

TEST_P(CancelLaw, ShowsHalvingAndLanesInHalfOfBf16Outputs) {
  for (const Sum order : {Sum::kHalves, Sum::kLanes16, Sum::kReversed}) {
    EXPECT_GE(share_changed(DType::kBFloat16, Law::kCancel, GetParam(), in_order(order)), 0.5)
        << static_cast<int>(order);
  }
}

TEST_P(CancelLaw, ShowsHalvingAndLanesInFp16AndFp32) {
  for (const Sum order : {Sum::kHalves, Sum::kLanes16}) {
    EXPECT_GE(share_changed(DType::kFloat16, Law::kCancel, GetParam(), in_order(order)), 0.3);
    EXPECT_GE(share_changed(DType::kFloat32, Law::kCancel, GetParam(), in_order(order)), 0.95);
  }
}

TEST_P(CancelLaw, ShowsLittleWhenTheFactorsAreNotPaired) {
  for (const Sum order : {Sum::kHalves, Sum::kLanes16}) {
    EXPECT_LT(
        share_changed(DType::kBFloat16, Law::kCancel, Law::kNormal, GetParam(), in_order(order)),
        0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(K,
                         CancelLaw,
                         testing::Values(64, 72, 144, 257, 1024),
                         testing::PrintToStringParamName());

TEST(CancelLaw, PairsBothOperandsHalfTheAxisApart) {
  for (const std::int64_t k : {8, 9, 64, 257}) {
    const FillProblem problem = matmul(DType::kFloat32, Law::kCancel, k, 3, Seed{2});
    const auto x = values_of(problem, 0, SampleId{1});
    const auto w = values_of(problem, 1);
    const auto period = static_cast<std::size_t>((k + 1) / 2);
    std::size_t cancelled = 0;
    for (std::size_t i = 0; i + period < x.size(); ++i) {
      cancelled += x[i] == -x[i + period];
      for (std::size_t n = 0; n < 3; ++n) ASSERT_EQ(w[3 * i + n], w[3 * (i + period) + n]);
    }
    EXPECT_GE(cancelled, x.size() / 4);
  }
}

TEST(CancelLaw, FlattensSeveralReducedAxes) {
  const FillProblem problem{DType::kFloat32,
                            Law::kCancel,
                            Seed{4},
                            {{"x", {4, 3, 8}, {0, 2}, false}, {"b", {3}, {}, true}}};
  const auto x = values_of(problem, 0);
  int cancelled = 0;
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t at = 0; at < 24; ++at) cancelled += x[24 * p + at] == -x[24 * (p + 2) + at];
  }
  EXPECT_GE(cancelled, 36);
}

TEST(NormalLaw, ShowsAnOrderInFp32ButHardlyInBf16) {
  for (const Sum order : {Sum::kHalves, Sum::kLanes16}) {
    EXPECT_GE(share_changed(DType::kFloat32, Law::kNormal, 257, in_order(order)), 0.5);
    EXPECT_GE(share_changed(DType::kFloat32, Law::kUniform, 257, in_order(order)), 0.5);
    EXPECT_LT(share_changed(DType::kBFloat16, Law::kNormal, 257, in_order(order)), 0.01);
  }
}

float without_term_9(std::span<const float> terms) {
  return add(Sum::kSequential, terms) - terms[9];
}

TEST(OnesLaw, ShowsADroppedTermButNoOrder) {
  EXPECT_EQ(share_changed(DType::kFloat32, Law::kOnes, 257, without_term_9), 1);
  EXPECT_EQ(share_changed(DType::kFloat32, Law::kOnes, 257, in_order(Sum::kLanes16)), 0);
  EXPECT_EQ(share_changed(DType::kFloat32, Law::kRamp, 257, in_order(Sum::kLanes16)), 0);
  EXPECT_EQ(share_changed(DType::kFloat32, Law::kIntegers, 257, in_order(Sum::kLanes16)), 0);
}

float without_tail(std::span<const float> terms) {
  return add(Sum::kSequential, terms.first(terms.size() - 1));
}

TEST(RampLaw, ShowsADroppedTailInEveryDtypeWhereOnesAreRoundedAway) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
    for (const std::int64_t k : {17, 257, 4097}) {
      EXPECT_EQ(share_changed(dtype, Law::kRamp, k, without_tail), 1) << k;
    }
  }
  EXPECT_EQ(share_changed(DType::kBFloat16, Law::kOnes, 1024, without_tail), 0);
}

/// Share of outputs that change when both inputs lose all but `bits` significant bits.
double share_changed_by_inputs(Law law, std::int64_t k, int bits) {
  const auto rounded = [bits](double v) {
    int exponent = 0;
    const double significand = std::frexp(v, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(significand, bits)), exponent - bits);
  };
  int changed = 0;
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
    const FillProblem problem = matmul(DType::kFloat32, law, k, 1, Seed{seed});
    auto x = values_of(problem, 0);
    auto w = values_of(problem, 1);
    const float right = add(Sum::kSequential, products(x, w, 1, 0));
    for (double& v : x) v = rounded(v);
    for (double& v : w) v = rounded(v);
    changed += right != add(Sum::kSequential, products(x, w, 1, 0));
  }
  return static_cast<double>(changed) / kProblems;
}

TEST(RampLaw, ShowsInputsRoundedToTf32OrBf16WhereIntegersDoNot) {
  for (const std::int64_t k : {8, 64, 1024, 8192}) {
    EXPECT_GE(share_changed_by_inputs(Law::kRamp, k, 11), 0.95) << k;
    EXPECT_GE(share_changed_by_inputs(Law::kRamp, k, 8), 0.95) << k;
    EXPECT_EQ(share_changed_by_inputs(Law::kIntegers, k, 8), 0) << k;
  }
}

float absolute(std::span<const float> terms) {
  std::vector<float> magnitudes(terms.begin(), terms.end());
  for (float& term : magnitudes) term = std::fabs(term);
  return add(Sum::kSequential, magnitudes);
}

TEST(IntegersLaw, ShowsALostSignWhereOnesDoNot) {
  EXPECT_EQ(share_changed(DType::kFloat32, Law::kIntegers, 64, absolute), 1);
  EXPECT_EQ(share_changed(DType::kFloat32, Law::kOnes, 64, absolute), 0);
}

TEST(MasksLaw, ShowsTheTreeOfExactSumsInEveryDtype) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
    for (const Sum order : {Sum::kHalves, Sum::kLanes16, Sum::kReversed}) {
      EXPECT_GE(share_changed(dtype, Law::kMasks, 128, in_order(order)), 0.4) << name(dtype);
    }
  }
}

/// An intermediate in fp16.
float by_way_of_fp16(std::span<const float> terms) {
  std::vector<float> narrowed(terms.begin(), terms.end());
  for (float& term : narrowed) term = static_cast<float>(round_to(DType::kFloat16, term));
  return add(Sum::kSequential, narrowed);
}

TEST(WideLaw, ShowsARangeTooSmallWhereNormalDoesNotOverflow) {
  int wide = 0;
  int normal = 0;
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
    for (const Law law : {Law::kWide, Law::kNormal}) {
      const FillProblem problem = matmul(DType::kBFloat16, law, 64, 1, Seed{seed});
      const auto terms = products(values_of(problem, 0), values_of(problem, 1), 1, 0);
      (law == Law::kWide ? wide : normal) += !std::isfinite(by_way_of_fp16(terms));
    }
  }
  EXPECT_EQ(wide, static_cast<int>(kProblems));
  EXPECT_EQ(normal, 0);
}

TEST(OutlierLaw, ShowsScalingByTheLargestWhereNormalHardlyDoes) {
  // Eight-bit integers scaled by the largest magnitude: what falls to zero is lost.
  const auto lost = [](Law law) {
    int count = 0;
    for (std::uint32_t s = 0; s < kProblems; ++s) {
      const auto x = values_of(row(DType::kBFloat16, law, 1024), 0, SampleId{s});
      double largest = 0;
      for (const double v : x) largest = std::max(largest, std::fabs(v));
      for (const double v : x) count += std::fabs(v) < largest / 254;
    }
    return static_cast<double>(count) / (1024.0 * static_cast<double>(kProblems));
  };
  EXPECT_LT(lost(Law::kNormal), 0.02);
  EXPECT_GE(lost(Law::kOutlier), 10 * lost(Law::kNormal));
}

/// One output of a valid convolution without stride: its products, in either walking order.
struct Convolution {
  std::int64_t channels, taps;
  FillProblem problem(std::uint64_t seed) const {
    const std::int64_t side = taps + 5;
    return {DType::kBFloat16,
            Law::kCancel,
            Seed{seed},
            {{"x", {1, channels, side, side}, {1}, false},
             {"w", {8, channels, taps, taps}, {1, 2, 3}, true}}};
  }
};

std::vector<float> conv_terms(const Convolution& c,
                              std::span<const double> x,
                              std::span<const double> w,
                              std::int64_t place,
                              bool channels_last) {
  const std::int64_t side = c.taps + 5;
  std::vector<float> terms;
  const auto push = [&](std::int64_t ch, std::int64_t u, std::int64_t v) {
    const double a =
        x[static_cast<std::size_t>((ch * side + place % 6 + u) * side + place / 6 + v)];
    const double b = w[static_cast<std::size_t>((ch * c.taps + u) * c.taps + v)];
    terms.push_back(static_cast<float>(a) * static_cast<float>(b));
  };
  const std::int64_t area = c.taps * c.taps;
  for (std::int64_t i = 0; i < c.channels * area; ++i) {
    const std::int64_t ch = channels_last ? i % c.channels : i / area;
    const std::int64_t tap = channels_last ? i / c.channels : i % area;
    push(ch, tap / c.taps, tap % c.taps);
  }
  return terms;
}

class CancelConvolution : public testing::TestWithParam<Convolution> {};

TEST_P(CancelConvolution, ShowsHalvingAndLanesInBothWalkingOrders) {
  for (const bool channels_last : {false, true}) {
    int changed[2] = {};
    int outputs = 0;
    for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
      const FillProblem problem = GetParam().problem(seed);
      const auto x = values_of(problem, 0);
      const auto w = values_of(problem, 1);
      for (std::int64_t place = 0; place < 36; ++place, ++outputs) {
        const auto terms = conv_terms(GetParam(), x, w, place, channels_last);
        const double right = round_to(DType::kBFloat16, add(Sum::kSequential, terms));
        changed[0] += right != round_to(DType::kBFloat16, add(Sum::kHalves, terms));
        changed[1] += right != round_to(DType::kBFloat16, add(Sum::kLanes16, terms));
      }
    }
    EXPECT_GE(changed[0], 0.4 * outputs) << channels_last;
    EXPECT_GE(changed[1], 0.4 * outputs) << channels_last;
  }
}

std::string convolution_name(const testing::TestParamInfo<Convolution>& info) {
  return std::string("c").append(std::to_string(info.param.channels)).append("_k") +
         std::to_string(info.param.taps);
}

INSTANTIATE_TEST_SUITE_P(ChannelsAndTaps,
                         CancelConvolution,
                         testing::Values(Convolution{8, 3},
                                         Convolution{16, 3},
                                         Convolution{3, 14},
                                         Convolution{1, 9},
                                         Convolution{5, 5}),
                         convolution_name);

}  // namespace
}  // namespace bic
