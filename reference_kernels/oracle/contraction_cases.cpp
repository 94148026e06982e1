// Products and gelu in __float128.
#include <quadmath.h>

#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

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

Sample row(std::mt19937_64& rng, DType t, Attributes attributes) {
  return normal_row(rng, t, 1 + static_cast<std::int64_t>(rng() % 60), std::move(attributes));
}

}  // namespace

std::vector<OracleCase> contraction_cases() {
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
      {"gelu", gelu_reference(), [](Rng& r, DType t) { return row(r, t, {}); }, naive_gelu},
      {"gelu_tanh",
       gelu_reference(),
       [](Rng& r, DType t) {
         return row(r, t, {{"approximate", "tanh"}});
       },
       naive_gelu},
  };
}

}  // namespace bic::testing_support
