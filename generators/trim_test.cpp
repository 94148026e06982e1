// Law `edge`: how often honest orders differ on one output, with and without trimming. The wide
// functions are written here with + - x / and an exp of our own, so that the test is the same test
// on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "generators/laws.h"
#include "generators/test_blocks.h"

namespace bic {
namespace {

using testing_blocks::add;
using testing_blocks::row;
using testing_blocks::Sum;
using testing_blocks::values_of;

/// exp for x <= 0: Taylor to 2^-53 after halving x until it is small, squared back.
template <typename T>
T exp_of(T x) {
  if (x < -80) return 0;
  int halvings = 0;
  for (; x < T(-0.25); x *= T(0.5)) ++halvings;
  T term = 1;
  T sum = 1;
  for (int i = 1; i <= 14; ++i) sum += term *= x / T(i);
  for (; halvings > 0; --halvings) sum *= sum;
  return sum;
}

double square_root(double x) {
  double root = x < 1 ? 1 : x;
  for (int i = 0; i < 40; ++i) root = 0.5 * (root + x / root);
  return root;
}

/// The first output of a row operation: in double, and in fp32 with its sums in some order.
struct RowOp {
  std::string name;
  std::function<double(std::span<const double>)> wide;
  std::function<float(std::span<const float>, Sum)> honest;
};

RowOp sum_of_magnitudes() {
  return {"sum",
          [](std::span<const double> x) {
            double sum = 0;
            for (const double v : x) sum += std::fabs(v);
            return sum;
          },
          [](std::span<const float> x, Sum order) {
            std::vector<float> terms(x.begin(), x.end());
            for (float& v : terms) v = std::fabs(v);
            return add(order, terms);
          }};
}

RowOp softmax() {
  return {"softmax",
          [](std::span<const double> x) {
            const double most = *std::max_element(x.begin(), x.end());
            double sum = 0;
            for (const double v : x) sum += exp_of(v - most);
            return exp_of(x[0] - most) / sum;
          },
          [](std::span<const float> x, Sum order) {
            const float most = *std::max_element(x.begin(), x.end());
            std::vector<float> terms(x.begin(), x.end());
            for (float& v : terms) v = exp_of(v - most);
            return terms[0] / add(order, terms);
          }};
}

RowOp layer_norm() {
  return {"layer_norm",
          [](std::span<const double> x) {
            const auto n = static_cast<double>(x.size());
            const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
            double squares = 0;
            for (const double v : x) squares += (v - mean) * (v - mean);
            return (x[0] - mean) / square_root(squares / n + 0x1p-17);
          },
          [](std::span<const float> x, Sum order) {
            const auto n = static_cast<float>(x.size());
            const float mean = add(order, x) / n;
            std::vector<float> terms(x.begin(), x.end());
            for (float& v : terms) v = (v - mean) * (v - mean);
            return (x[0] - mean) / std::sqrt(add(order, terms) / n + 0x1p-17F);
          }};
}

/// Whether reversed, halves and lanes do not agree on the rounded output.
bool shows(const RowOp& op, DType dtype, std::span<const double> block) {
  const std::vector<float> x(block.begin(), block.end());
  const double reversed = round_to(dtype, op.honest(x, Sum::kReversed));
  return reversed != round_to(dtype, op.honest(x, Sum::kHalves)) ||
         reversed != round_to(dtype, op.honest(x, Sum::kLanes16));
}

std::vector<std::int64_t> whole_row(std::int64_t k) {
  std::vector<std::int64_t> row(static_cast<std::size_t>(k));
  std::iota(row.begin(), row.end(), 0);
  return row;
}

using EdgeCase = std::tuple<int, DType, std::int64_t>;

class EdgeLaw : public testing::TestWithParam<EdgeCase> {
 protected:
  RowOp op() const {
    const RowOp ops[] = {sum_of_magnitudes(), softmax(), layer_norm()};
    return ops[std::get<0>(GetParam())];
  }
};

TEST_P(EdgeLaw, ShowsAnOrderInOneSampleOfTwentyWhereNormalShowsNone) {
  constexpr std::uint32_t kSamples = 200;
  const auto [unused, dtype, k] = GetParam();
  const auto row_indices = whole_row(k);
  std::uint32_t trimmed = 0;
  std::uint32_t plain = 0;
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    auto block = values_of(row(dtype, Law::kEdge, k), 0, SampleId{s});
    plain += shows(op(), dtype, block);
    trim_to_edge(block, row_indices, dtype, op().wide);
    trimmed += shows(op(), dtype, block);
  }
  EXPECT_GE(trimmed, kSamples / 20) << op().name;
  EXPECT_LT(plain, kSamples / 100) << op().name;
}

std::string case_name(const testing::TestParamInfo<EdgeCase>& info) {
  const char* ops[] = {"sum", "softmax", "layer_norm"};
  const auto [op, dtype, k] = info.param;
  return std::string(ops[op]).append("_").append(name(dtype)).append("_k") + std::to_string(k);
}

INSTANTIATE_TEST_SUITE_P(Rows,
                         EdgeLaw,
                         testing::Combine(testing::Values(0, 1, 2),
                                          testing::Values(DType::kBFloat16, DType::kFloat16),
                                          testing::Values(64, 257, 1024)),
                         case_name);

TEST(TrimToEdge, MovesAtMostTwelveElementsToValuesOfTheDtype) {
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16, DType::kFloat32}) {
    const auto before = values_of(row(dtype, Law::kEdge, 256), 0);
    auto block = before;
    trim_to_edge(block, whole_row(256), dtype, sum_of_magnitudes().wide);
    int moved = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      moved += block[i] != before[i];
      EXPECT_EQ(round_to(dtype, block[i]), block[i]);
    }
    EXPECT_GE(moved, 1);
    EXPECT_LE(moved, 12);
  }
}

TEST(TrimToEdge, TouchesItsRowOnlyAndRepeatsItself) {
  const auto before = values_of(row(DType::kBFloat16, Law::kEdge, 512), 0);
  auto block = before;
  auto again = before;
  const auto full = whole_row(512);
  const auto first_half = std::span(full).first(256);
  trim_to_edge(block, first_half, DType::kBFloat16, sum_of_magnitudes().wide);
  trim_to_edge(again, first_half, DType::kBFloat16, sum_of_magnitudes().wide);
  EXPECT_EQ(block, again);
  EXPECT_TRUE(std::equal(block.begin() + 256, block.end(), before.begin() + 256));
}

TEST(TrimToEdge, LeavesAloneWhatItCannotTrim) {
  const auto before = values_of(row(DType::kFloat64, Law::kEdge, 64), 0);
  auto block = before;
  trim_to_edge(block, whole_row(64), DType::kFloat64, sum_of_magnitudes().wide);
  EXPECT_EQ(block, before);
  auto single = std::vector<double>{1.5};
  trim_to_edge(single, whole_row(1), DType::kBFloat16, sum_of_magnitudes().wide);
  EXPECT_EQ(single, std::vector<double>{1.5});
}

}  // namespace
}  // namespace bic
