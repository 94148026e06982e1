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

Quads naive_mm(const Sample& s, bool rows) {
  const std::int64_t k = s.dims.at("k"), n = s.dims.at("n");
  Quads y;
  for (std::size_t r = 0; r < s.values[0].size() / k; ++r) {
    for (std::int64_t j = 0; j < n; ++j) {
      Quad sum = s.values.size() > 2 ? s.values[2][j] : 0;
      for (std::int64_t i = 0; i < k; ++i) {
        sum +=
            static_cast<Quad>(s.values[0][r * k + i]) * s.values[1][rows ? j * k + i : i * n + j];
      }
      y.push_back(sum);
    }
  }
  return y;
}

Quads naive_bmm(const Sample& s) {
  const std::int64_t m = s.dims.at("m"), k = s.dims.at("k"), n = s.dims.at("n");
  Quads y;
  for (std::size_t b = 0; b < s.values[0].size() / (m * k); ++b) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        Quad sum = 0;
        for (std::int64_t c = 0; c < k; ++c) {
          sum += static_cast<Quad>(s.values[0][(b * m + i) * k + c]) *
                 s.values[1][(b * k + c) * n + j];
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

Quads naive_gelu(const Sample& s) {
  Quads y;
  for (double x : s.values[0]) {
    const Quad q = x;
    const Quad u = sqrtq(2 / acosq(-1)) * (q + q * q * q * (44715 / static_cast<Quad>(1000000)));
    y.push_back(s.attributes.empty() ? q / 2 * erfcq(-q / sqrtq(2)) : q / (1 + expq(-2 * u)));
  }
  return y;
}

Sample contraction(
    std::mt19937_64& rng, DType t, std::int64_t rows, std::int64_t stacks, bool bias) {
  const std::int64_t k = 1 + rng() % 40, n = 1 + rng() % 20;
  Sample s{{normals(rng, t, stacks * rows * k), normals(rng, t, stacks * k * n)},
           {{"k", k}, {"n", n}, {"m", rows}},
           {}};
  if (bias) s.values.push_back(normals(rng, t, n));
  return s;
}

Sample rows_of(std::mt19937_64& rng, DType t, std::int64_t p, bool named) {
  const std::int64_t h = 1 + rng() % 60;
  Sample s{{normals(rng, t, h * p)}, {{"h", h}}, {}};
  if (named) s.dims["p"] = p;
  return s;
}

std::vector<OracleCase> sum_cases() {
  return {
      {"mm",
       matmul_reference(),
       [](Rng& r, DType t) { return contraction(r, t, 1, 1, false); },
       [](const Sample& s) { return naive_mm(s, false); }},
      {"linear",
       linear_reference(),
       [](Rng& r, DType t) { return contraction(r, t, 5, 1, false); },
       [](const Sample& s) { return naive_mm(s, true); }},
      {"linear_bias",
       linear_reference(),
       [](Rng& r, DType t) { return contraction(r, t, 3, 1, true); },
       [](const Sample& s) { return naive_mm(s, true); }},
      {"bmm",
       matmul_reference(),
       [](Rng& r, DType t) { return contraction(r, t, 3, 4, false); },
       naive_bmm},
  };
}

std::vector<OracleCase> row_cases() {
  return {
      {"gelu",
       gelu_reference(),
       [](Rng& r, DType t) { return rows_of(r, t, 1, false); },
       naive_gelu},
      {"gelu_tanh",
       gelu_reference(),
       [](Rng& r, DType t) {
         Sample s = rows_of(r, t, 1, false);
         s.attributes = {{"approximate", "tanh"}};
         return s;
       },
       naive_gelu},
  };
}

std::vector<OracleCase> oracle_cases() {
  std::vector<OracleCase> all = sum_cases();
  for (const OracleCase& c : row_cases()) all.push_back(c);
  for (const OracleCase& c : reduction_cases()) all.push_back(c);
  for (const OracleCase& c : attention_cases()) all.push_back(c);
  for (const OracleCase& c : norm_cases()) all.push_back(c);
  for (const OracleCase& c : pointwise_cases()) all.push_back(c);
  for (const OracleCase& c : product_cases()) all.push_back(c);
  return all;
}

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
