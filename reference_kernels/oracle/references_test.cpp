// The oracles against formulas written out in __float128, and their behaviour at NaN and infinity.
#include "reference_kernels/oracle/references.h"

#include <gtest/gtest.h>
#include <quadmath.h>

#include <limits>

#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/sample_draws.h"

namespace bic {
namespace {

using namespace testing_support;  // NOLINT: test
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Oracle : public testing::TestWithParam<OracleCase> {};

TEST_P(Oracle, AgreesWithTheFormulaInQuadPrecision) {
  std::mt19937_64 rng(7);
  for (DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat64}) {
    const double tolerance = dtype == DType::kFloat64 ? 0x1p-90 : 0x1p-45;  // of about unit terms
    for (int round = 0; round < 60; ++round) {
      const Sample sample = GetParam().draw(rng, dtype);
      const Quads expected = GetParam().naive(sample);
      const auto elements = all_elements(static_cast<std::int64_t>(expected.size()));
      const std::vector<Wide> y = wide_of(*GetParam().reference, sample, dtype, elements);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const Quad error = (expected[i] - y[i].hi) - y[i].lo;
        ASSERT_LT(std::fabs(static_cast<double>(error)), tolerance) << "element " << i;
      }
    }
  }
}

TEST_P(Oracle, GivesAnElementTheSameValueWhateverElseIsAsked) {
  std::mt19937_64 rng(8);
  const Sample sample = GetParam().draw(rng, DType::kFloat32);
  const auto count = static_cast<std::int64_t>(GetParam().naive(sample).size());
  const auto all = all_elements(count);
  const std::vector<std::int64_t> last{count - 1};
  EXPECT_EQ(wide_of(*GetParam().reference, sample, DType::kFloat32, all).back().hi,
            wide_of(*GetParam().reference, sample, DType::kFloat32, last).back().hi);
  for (Order order : {Order::kSequential, Order::kReversed}) {
    EXPECT_EQ(control_of(*GetParam().reference, sample, DType::kFloat32, order, all).back(),
              control_of(*GetParam().reference, sample, DType::kFloat32, order, last).back());
  }
  const Arithmetic arithmetic = reference_arithmetic(DType::kFloat32);
  EXPECT_EQ(bound_of(*GetParam().reference, sample, DType::kFloat32, arithmetic, all).back(),
            bound_of(*GetParam().reference, sample, DType::kFloat32, arithmetic, last).back());
}

TEST_P(Oracle, PassesNanOn) {
  std::mt19937_64 rng(9);
  for (DType dtype : kAllDTypes) {
    Sample sample = GetParam().draw(rng, dtype);
    sample.values[0][0] = kNan;
    const std::vector<std::int64_t> first{0};
    EXPECT_TRUE(std::isnan(wide_of(*GetParam().reference, sample, dtype, first)[0].hi));
    for (Order order : kControlOrders) {
      EXPECT_TRUE(std::isnan(control_of(*GetParam().reference, sample, dtype, order, first)[0]));
    }
    EXPECT_EQ(bound_of(*GetParam().reference, sample, dtype, reference_arithmetic(dtype), first)[0],
              0);
  }
}

TEST_P(Oracle, SurvivesInfinity) {
  std::mt19937_64 rng(10);
  for (double infinity : {kInfinity, -kInfinity}) {
    for (DType dtype : kAllDTypes) {
      Sample sample = GetParam().draw(rng, dtype);
      sample.values[0].back() = infinity;
      const auto elements =
          all_elements(static_cast<std::int64_t>(GetParam().naive(sample).size()));
      const std::vector<Wide> y = wide_of(*GetParam().reference, sample, dtype, elements);
      const std::vector<double> control =
          control_of(*GetParam().reference, sample, dtype, Order::kHalves, elements);
      // +-Inf and NaN come from the same elements in oracle and control.
      for (std::size_t i = 0; i < y.size(); ++i) {
        ASSERT_EQ(std::isnan(y[i].hi), std::isnan(control[i])) << i;
        ASSERT_EQ(std::isinf(y[i].hi), std::isinf(control[i])) << i;
      }
      bound_of(*GetParam().reference, sample, dtype, reference_arithmetic(dtype), elements);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Oracle, testing::ValuesIn(oracle_cases()), [](const auto& info) {
  return info.param.name;
});

// NaN as an index or condition means nothing: these stand apart from the others.
TEST(Moves, CopyTheElementTheyName) {
  const auto values = [](const Reference& reference, const Sample& s, std::int64_t count) {
    return control_of(reference, s, DType::kFloat32, Order::kSequential, all_elements(count));
  };
  const Sample rows{{{2, 0}, {1, 2, 3, 4, 5, 6}}, {{"h", 2}}, {}};
  EXPECT_EQ(values(*rows_reference(), rows, 4), (std::vector<double>{5, 6, 1, 2}));
  const Sample choice{{{1, 0}, {1, 2, 3, 4}, {-1, -2, -3, -4}}, {}, {}};
  EXPECT_EQ(values(*where_reference(), choice, 4), (std::vector<double>{1, -2, 3, -4}));
  EXPECT_EQ(bound_of(*where_reference(), choice, DType::kFloat32, {}, all_elements(4)),
            std::vector<double>(4));
}

}  // namespace
}  // namespace bic
