#include <quadmath.h>

#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

OracleCase unary_case(const std::string& name, Pointwise f, Quad (*naive)(Quad)) {
  return {name,
          pointwise_reference(f),
          [](Rng& r, DType t) {
            const std::int64_t h = 1 + r() % 60;
            return Sample{{normals(r, t, h)}, {{"h", h}}, {}};
          },
          [naive](const Sample& s) {
            Quads y;
            for (const double x : s.values[0]) y.push_back(naive(x));
            return y;
          }};
}

Quad naive_power(const Sample& s, std::size_t i) {
  const Quad x = fabsq(s.values[0][i]);
  if (s.values.size() == 1) return powq(x, 2.5);
  return powq(x, fminq(2, fmaxq(-2, s.values[1][i])));
}

OracleCase power_case(const std::string& name, bool tensor) {
  return {name,
          pow_reference(),
          [tensor](Rng& r, DType t) {
            const std::int64_t h = 1 + r() % 60;
            Sample s{{normals(r, t, h)}, {{"h", h}}, {}};
            if (tensor) {
              for (double& x : s.values[0]) x = round_to(t, x + (x < 0 ? -0.5 : 0.5));
              s.values.push_back(normals(r, t, h));
            } else {
              s.attributes = {{"exponent", "2.5"}};
            }
            return s;
          },
          [](const Sample& s) {
            Quads y;
            for (std::size_t i = 0; i < s.values[0].size(); ++i) y.push_back(naive_power(s, i));
            return y;
          }};
}

Quad naive_binary(Binary op, Quad alpha, Quad x, Quad o) {
  return op == Binary::kAdd ? x + alpha * o : op == Binary::kMul ? x * o : x / o;
}

/// o has `others` elements a sample: 15, 5 or 3 for x[3,5].
OracleCase binary_case(const std::string& name, Binary op, std::int64_t others, bool alpha) {
  return {name,
          binary_reference(op),
          [=](Rng& r, DType t) {
            Sample s{{normals(r, t, 15), normals(r, t, others)}, {{"h", 5}}, {}};
            if (others == 3) s.dims["t"] = 3;
            if (alpha) s.attributes = {{"alpha", "0x1.8p-2"}};
            for (double& o : s.values[1]) o = round_to(t, o + (o < 0 ? -0.5 : 0.5));
            return s;
          },
          [=](const Sample& s) {
            Quads y;
            for (std::int64_t i = 0; i < 15; ++i) {
              const double o = s.values[1][others == 3 ? i / 5 : i % others];
              y.push_back(naive_binary(op, alpha ? 0.375 : 1, s.values[0][i], o));
            }
            return y;
          }};
}

constexpr std::int64_t kT = 3, kH = 2, kD = 4;

OracleCase rotary_case() {
  return {"rotary",
          rotary_reference(),
          [](Rng& r, DType t) {
            return Sample{{normals(r, t, kT * kH * 2 * kD),
                           normals(r, t, kT * 2 * kD),
                           normals(r, t, kT * 2 * kD)},
                          {{"t", kT}, {"h", kH}, {"d", kD}},
                          {}};
          },
          [](const Sample& s) {
            Quads y;
            for (std::int64_t row = 0; row < kT * kH; ++row) {
              for (std::int64_t j = 0; j < 2 * kD; ++j) {
                const double* const x = &s.values[0][row * 2 * kD];
                const std::int64_t angle = row / kH * 2 * kD + j;
                const Quad rotated = j < kD ? -x[j + kD] : x[j - kD];
                y.push_back(static_cast<Quad>(x[j]) * s.values[1][angle] +
                            rotated * s.values[2][angle]);
              }
            }
            return y;
          }};
}

OracleCase cat_case() {
  return {"cat",
          cat_reference(),
          [](Rng& r, DType t) {
            return Sample{{normals(r, t, 7), normals(r, t, 4)}, {}, {}};
          },
          [](const Sample& s) {
            Quads y(s.values[0].begin(), s.values[0].end());
            y.insert(y.end(), s.values[1].begin(), s.values[1].end());
            return y;
          }};
}

}  // namespace

std::vector<OracleCase> pointwise_cases() {
  return {
      unary_case("silu", Pointwise::kSilu, [](Quad x) { return x / (1 + expq(-x)); }),
      unary_case("sigmoid", Pointwise::kSigmoid, [](Quad x) { return 1 / (1 + expq(-x)); }),
      unary_case("tanh", Pointwise::kTanh, tanhq),
      unary_case("exp", Pointwise::kExp, expq),
      unary_case("log", Pointwise::kLog, [](Quad x) { return logq(fabsq(x)); }),
      unary_case("rsqrt", Pointwise::kRsqrt, [](Quad x) { return 1 / sqrtq(fabsq(x)); }),
      unary_case("sin", Pointwise::kSin, sinq),
      unary_case("cos", Pointwise::kCos, cosq),
      power_case("pow", false),
      power_case("pow_tensor", true),
      binary_case("add", Binary::kAdd, 15, false),
      binary_case("add_alpha", Binary::kAdd, 15, true),
      binary_case("mul_row", Binary::kMul, 5, false),
      binary_case("div_column", Binary::kDiv, 3, false),
      rotary_case(),
      cat_case(),
  };
}

}  // namespace bic::testing_support
