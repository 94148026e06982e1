// The oracles against formulas written out in __float128, and their behaviour at NaN and infinity.
#include "reference_kernels/oracle/references.h"

#include <gtest/gtest.h>
#include <quadmath.h>

#include <functional>
#include <limits>

#include "reference_kernels/oracle/sample_draws.h"

namespace bic {
namespace {

using namespace testing_support;  // NOLINT: test
using Quad = __float128;
using Quads = std::vector<Quad>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct OracleCase {
  std::string name;
  std::shared_ptr<const Reference> reference;
  std::function<Sample(std::mt19937_64&, DType)> draw;
  std::function<Quads(const Sample&)> naive;
};

void PrintTo(const OracleCase& c, std::ostream* out) { *out << c.name; }

std::vector<double> normals(std::mt19937_64& rng, DType dtype, std::int64_t count) {
  return draw_many(rng, Kind::kNormal, dtype, count);
}

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

Quads naive_sum(const Sample& s) {
  const std::int64_t p = s.dims.contains("p") ? s.dims.at("p") : 1;
  Quads y(p);
  for (std::size_t i = 0; i < s.values[0].size(); ++i) y[i % p] += s.values[0][i];
  return y;
}

Quads naive_softmax(const Sample& s) {
  const std::size_t h = s.dims.at("h"), p = s.values[0].size() / h;
  Quads y(s.values[0].size());
  for (std::size_t c = 0; c < p; ++c) {
    Quad sum = 0;
    for (std::size_t i = 0; i < h; ++i) sum += expq(s.values[0][i * p + c]);
    for (std::size_t i = 0; i < h; ++i) y[i * p + c] = expq(s.values[0][i * p + c]) / sum;
  }
  return y;
}

Quads naive_layer_norm(const Sample& s) {
  const bool affine = s.values.size() > 1;
  const std::size_t n = affine ? s.values[1].size() : s.dims.at("h");
  Quads y;
  for (std::size_t first = 0; first < s.values[0].size(); first += n) {
    Quad mean = 0, variance = 0;
    for (std::size_t i = 0; i < n; ++i) mean += s.values[0][first + i];
    mean /= n;
    for (std::size_t i = 0; i < n; ++i) {
      const Quad d = s.values[0][first + i] - mean;
      variance += d * d / n;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const Quad z = (s.values[0][first + i] - mean) / sqrtq(variance + 0x1p-17);
      y.push_back(affine ? z * s.values[1][i] + s.values[2][i] : z);
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

Sample norm_of(std::mt19937_64& rng, DType t, std::int64_t rows, bool affine) {
  Sample s = rows_of(rng, t, 1, false);
  const std::int64_t h = s.dims.at("h");
  s.values[0] = normals(rng, t, rows * h);
  if (affine) s.values.insert(s.values.end(), {normals(rng, t, h), normals(rng, t, h)});
  s.attributes = {{"eps", "0x1p-17"}};
  return s;
}

using Rng = std::mt19937_64;

std::vector<OracleCase> sum_cases() {
  return {
      {"mm",
       mm_reference(),
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
       bmm_reference(),
       [](Rng& r, DType t) { return contraction(r, t, 3, 4, false); },
       naive_bmm},
      {"sum", sum_reference(), [](Rng& r, DType t) { return rows_of(r, t, 1, false); }, naive_sum},
      {"sum_two",
       sum_reference(),
       [](Rng& r, DType t) { return rows_of(r, t, 3, false); },
       naive_sum},
      {"sum_middle",
       sum_reference(),
       [](Rng& r, DType t) { return rows_of(r, t, 5, true); },
       naive_sum},
  };
}

std::vector<OracleCase> row_cases() {
  return {
      {"softmax",
       softmax_reference(),
       [](Rng& r, DType t) { return rows_of(r, t, 1, false); },
       naive_softmax},
      {"softmax_middle",
       softmax_reference(),
       [](Rng& r, DType t) { return rows_of(r, t, 7, true); },
       naive_softmax},
      {"layer_norm",
       layer_norm_reference(),
       [](Rng& r, DType t) { return norm_of(r, t, 3, true); },
       naive_layer_norm},
      {"layer_norm_plain",
       layer_norm_reference(),
       [](Rng& r, DType t) { return norm_of(r, t, 1, false); },
       naive_layer_norm},
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

}  // namespace
}  // namespace bic
