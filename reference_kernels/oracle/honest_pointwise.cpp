// Honest evaluations of elementary functions and of arithmetic.
#include <algorithm>

#include "reference_kernels/oracle/honest_op.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

template <class A>
A honest_value(Rng& rng, Pointwise f, A x) {
  const bool other = rng() % 2 == 0;
  switch (f) {
    case Pointwise::kSilu: {
      const A sum = 1 + worsen(rng, std::exp(-x));
      return other ? x * (1 / sum) : x / sum;
    }
    case Pointwise::kSigmoid: {
      if (!other || x > 0) return 1 / (1 + worsen(rng, std::exp(-x)));
      const A e = worsen(rng, std::exp(x));
      return e / (1 + e);
    }
    case Pointwise::kTanh:
      return worsen(rng, std::tanh(x));
    case Pointwise::kExp:
      return worsen(rng, std::exp(x));
    case Pointwise::kLog:
      return worsen(rng, std::log(std::abs(x)));
    case Pointwise::kRsqrt: {
      const A root = std::sqrt(std::abs(x));
      return other && x != 0 ? root / std::abs(x) : 1 / root;
    }
    case Pointwise::kSin:
      return worsen(rng, std::sin(x));
    case Pointwise::kCos:
      break;
  }
  return worsen(rng, std::cos(x));
}

template <class A>
std::vector<A> honest_values(Rng& rng, const Sample& s, Pointwise f) {
  std::vector<A> y = cast<A>(s.values[0]);
  for (A& v : y) v = honest_value(rng, f, v);
  return y;
}

template <class A>
std::vector<A> honest_powers(Rng& rng, const Sample& s) {
  std::vector<A> y = cast<A>(s.values[0]);
  const A e = static_cast<A>(std::stod(s.attributes.at("exponent")));
  for (A& v : y)
    v = e == 3 && rng() % 2 == 0 ? std::abs(v * v * v) : worsen(rng, std::pow(std::abs(v), e));
  return y;
}

template <class A>
std::vector<A> honest_binaries(Rng& rng, const Sample& s, Binary op) {
  std::vector<A> y = cast<A>(s.values[0]);
  const A alpha = static_cast<A>(0.3);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const A o = static_cast<A>(s.values[1][i]);
    if (op == Binary::kAdd) y[i] = rng() % 2 == 0 ? y[i] + alpha * o : std::fma(alpha, o, y[i]);
    if (op == Binary::kMul) y[i] *= o;
    if (op == Binary::kDiv) y[i] /= o;
  }
  return y;
}

/// Of the second operand, clamped as the op says.
template <class A>
std::vector<A> honest_tensor_powers(Rng& rng, const Sample& s) {
  std::vector<A> y = cast<A>(s.values[0]);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const A e = std::clamp(static_cast<A>(s.values[1][i]), A{-2}, A{2});
    y[i] = worsen(rng, std::pow(std::abs(y[i]), e));
  }
  return y;
}

constexpr std::int64_t kHalf = 4;

/// One row, with or without fused multiply-add.
template <class A>
std::vector<A> honest_rotary(Rng& rng, const Sample& s) {
  const std::vector<A> x = cast<A>(s.values[0]), cosine = cast<A>(s.values[1]),
                       sine = cast<A>(s.values[2]);
  std::vector<A> y;
  for (std::int64_t i = 0; i < 2 * kHalf; ++i) {
    const A rotated = i < kHalf ? -x[i + kHalf] : x[i - kHalf];
    const A other = rotated * sine[i];
    y.push_back(rng() % 2 == 0 ? x[i] * cosine[i] + other : std::fma(x[i], cosine[i], other));
  }
  return y;
}

HonestOp rotary() {
  const auto draw = [](Rng& rng, DType t) {
    Sample s{{}, {{"t", 1}, {"h", 1}, {"d", kHalf}}, {}};
    for (int i = 0; i < 3; ++i) s.values.push_back(draw_many(rng, draw_kind(rng), t, 2 * kHalf));
    return s;
  };
  return {"rotary", rotary_reference(), {}, draw, honest_rotary<float>, honest_rotary<double>};
}

HonestOp tensor_power() {
  const auto draw = [](Rng& rng, DType t) {
    Sample s = draw_row(rng, t);
    const auto h = static_cast<std::int64_t>(s.values[0].size());
    s.values.push_back(draw_many(rng, Kind::kNormal, t, h));
    return s;
  };
  return {"pow_tensor",
          pow_reference(),
          {},
          draw,
          honest_tensor_powers<float>,
          honest_tensor_powers<double>};
}

HonestOp function(const std::string& name, Pointwise f) {
  return {name,
          pointwise_reference(f),
          {},
          [](Rng& r, DType t) { return draw_row(r, t); },
          [f](Rng& r, const Sample& s) { return honest_values<float>(r, s, f); },
          [f](Rng& r, const Sample& s) { return honest_values<double>(r, s, f); }};
}

HonestOp power(const std::string& name, const std::string& exponent) {
  return {name,
          pow_reference(),
          {},
          [exponent](Rng& r, DType t) {
            return draw_row(r, t, {{"exponent", exponent}});
          },
          honest_powers<float>,
          honest_powers<double>};
}

HonestOp operation(const std::string& name, Binary op, Attributes attributes = {}) {
  return {name,
          binary_reference(op),
          {},
          [attributes](Rng& r, DType t) {
            Sample s = draw_row(r, t, attributes);
            const auto h = static_cast<std::int64_t>(s.values[0].size());
            s.values.push_back(draw_many(r, draw_kind(r), t, h));
            return s;
          },
          [op](Rng& r, const Sample& s) { return honest_binaries<float>(r, s, op); },
          [op](Rng& r, const Sample& s) { return honest_binaries<double>(r, s, op); }};
}

}  // namespace

std::vector<HonestOp> honest_pointwise() {
  return {
      function("silu", Pointwise::kSilu),
      function("sigmoid", Pointwise::kSigmoid),
      function("tanh", Pointwise::kTanh),
      function("exp", Pointwise::kExp),
      function("log", Pointwise::kLog),
      function("rsqrt", Pointwise::kRsqrt),
      function("sin", Pointwise::kSin),
      function("cos", Pointwise::kCos),
      power("pow", "2.5"),
      power("pow_cube", "3"),
      tensor_power(),
      rotary(),
      operation("add", Binary::kAdd, {{"alpha", "0x1.3333333333333p-2"}}),
      operation("mul", Binary::kMul),
      operation("div", Binary::kDiv),
  };
}

}  // namespace bic::testing_support
