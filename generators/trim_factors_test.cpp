// Law `factors`: how often honest orders of a product differ on it, with and without trimming.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "generators/laws.h"
#include "generators/test_blocks.h"

namespace bic {
namespace {

using testing_blocks::row;
using testing_blocks::values_of;

constexpr std::uint32_t kSamples = 200;

double wide_product(std::span<const double> x) {
  double product = 1;
  for (const double v : x) product *= v;
  return product;
}

template <class Iterator>
float in_sequence(Iterator begin, Iterator end) {
  float product = 1;
  for (; begin != end; ++begin) product *= static_cast<float>(*begin);
  return product;
}

/// The product in fp32: reversed, by halves, in 16 lanes.
std::array<float, 3> in_orders(std::span<const double> x) {
  const auto half = x.begin() + static_cast<std::ptrdiff_t>((x.size() + 1) / 2);
  std::array<float, 16> lane;
  lane.fill(1);
  for (std::size_t i = 0; i < x.size(); ++i) lane[i % 16] *= static_cast<float>(x[i]);
  for (std::size_t n = 8; n > 0; n /= 2) {
    for (std::size_t l = 0; l < n; ++l) lane[l] *= lane[l + n];
  }
  return {in_sequence(x.rbegin(), x.rend()),
          in_sequence(x.begin(), half) * in_sequence(half, x.end()),
          lane[0]};
}

std::vector<std::int64_t> whole_row(std::int64_t k) {
  std::vector<std::int64_t> row(static_cast<std::size_t>(k));
  std::iota(row.begin(), row.end(), 0);
  return row;
}

/// Samples on which the first two of these orders do not agree, or the last two.
struct Shown {
  int halves = 0, lanes = 0;
};

void count(DType dtype, std::span<const double> block, Shown& shown) {
  const auto y = in_orders(block);
  shown.halves += round_to(dtype, y[0]) != round_to(dtype, y[1]);
  shown.lanes += round_to(dtype, y[1]) != round_to(dtype, y[2]);
}

class FactorsLaw : public testing::TestWithParam<std::tuple<DType, std::int64_t>> {};

TEST_P(FactorsLaw, ShowsAnOrderInAFifthOfItsSamplesAndHardlyAnyUntrimmed) {
  const auto [dtype, k] = GetParam();
  Shown trimmed, plain;
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    auto block = values_of(row(dtype, Law::kFactors, k), 0, SampleId{s});
    count(dtype, block, plain);
    trim_factors(block, whole_row(k), dtype, wide_product);
    count(dtype, block, trimmed);
  }
  EXPECT_GE(trimmed.halves, kSamples / 5);
  EXPECT_GE(trimmed.lanes, kSamples / 5);
  EXPECT_LE(plain.halves + plain.lanes, kSamples / 50);
}

TEST_P(FactorsLaw, KeepsProductsAmongNormalNumbers) {
  const auto [dtype, k] = GetParam();
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    auto block = values_of(row(dtype, Law::kFactors, k), 0, SampleId{s});
    trim_factors(block, whole_row(k), dtype, wide_product);
    EXPECT_GE(std::fabs(wide_product(block)), 0x1p-14);
    EXPECT_LT(std::fabs(wide_product(block)), 0x1p15);
    for (const double v : block) EXPECT_EQ(round_to(dtype, v), v);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows,
                         FactorsLaw,
                         testing::Combine(testing::Values(DType::kBFloat16, DType::kFloat16),
                                          testing::Values(64, 81, 96)),
                         [](const auto& info) {
                           return std::string(name(std::get<0>(info.param))) + "_k" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(FactorsLaw, ShowsEveryOrderInFp32AsItIs) {
  Shown shown;
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    count(
        DType::kFloat32, values_of(row(DType::kFloat32, Law::kFactors, 32), 0, SampleId{s}), shown);
  }
  EXPECT_GE(shown.halves, kSamples / 2);
  EXPECT_GE(shown.lanes, kSamples / 2);
}

TEST(TrimFactors, MovesFiveElementsOfItsRowAndRepeatsItself) {
  const auto before = values_of(row(DType::kFloat16, Law::kFactors, 128), 0);
  auto block = before, again = before;
  const auto full = whole_row(128);
  const auto first_half = std::span(full).first(64);
  trim_factors(block, first_half, DType::kFloat16, wide_product);
  trim_factors(again, first_half, DType::kFloat16, wide_product);
  EXPECT_EQ(block, again);
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (i >= 59 && i < 64) continue;
    EXPECT_EQ(block[i], before[i]) << i;
  }
  EXPECT_NE(block, before);
}

TEST(TrimFactors, LeavesAloneWhatItCannotTrim) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const auto before = values_of(row(dtype, Law::kFactors, 64), 0);
    auto block = before;
    trim_factors(block, whole_row(64), dtype, wide_product);
    EXPECT_EQ(block, before);
  }
  std::vector<double> zero(64, 0.0), few(9, 1.25);
  trim_factors(zero, whole_row(64), DType::kBFloat16, wide_product);
  trim_factors(few, whole_row(9), DType::kBFloat16, wide_product);
  EXPECT_EQ(zero, std::vector<double>(64, 0.0));
  EXPECT_EQ(few, std::vector<double>(9, 1.25));
}

}  // namespace
}  // namespace bic
