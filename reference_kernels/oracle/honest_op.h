#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reference_kernels/oracle/sample_draws.h"

namespace bic::testing_support {

using Rng = std::mt19937_64;

/// An op, how to draw a sample of it, and an honest evaluation of all its elements in type A.
struct HonestOp {
  std::string name;
  std::shared_ptr<const Reference> reference;
  Arithmetic arithmetic;  ///< of `honest`; its accumulator follows the dtype
  std::function<Sample(Rng&, DType)> draw;
  std::function<std::vector<float>(Rng&, const Sample&)> in_float;
  std::function<std::vector<double>(Rng&, const Sample&)> in_double;
};

/// An op whose 16-bit implementations round to the subject's type on the way, which is their form.
struct RoundingOp {
  std::string name;
  std::shared_ptr<const Reference> reference;
  std::string form;
  std::function<Sample(Rng&, DType)> draw;
  std::function<std::vector<double>(Rng&, const Sample&, DType)> evaluate;
};

// One list a family, all judged by bounds_test.cpp.
std::vector<HonestOp> honest_attentions();
std::vector<HonestOp> honest_convolutions();
std::vector<HonestOp> honest_norms();
std::vector<HonestOp> honest_pointwise();
std::vector<HonestOp> honest_products();
std::vector<HonestOp> honest_reductions();
std::vector<HonestOp> honest_tensor_cores();
std::vector<RoundingOp> rounding_ops();

template <class A>
std::vector<A> cast(std::span<const double> values) {
  return {values.begin(), values.end()};
}

/// A result of an elementary function that is up to one ulp worse than libm's; an overflow stays
/// one.
template <class A>
A worsen(Rng& rng, A value) {
  if (std::isinf(value)) return value;
  const A ends[] = {value, std::nextafter(value, A{0}), std::nextafter(value, 2 * value)};
  return ends[rng() % 3];
}

inline Sample draw_row(Rng& rng, DType t, Attributes attributes = {}) {
  const std::int64_t h = 1 + static_cast<std::int64_t>(rng() % 40);
  return {{draw_many(rng, draw_kind(rng), t, h)}, {{"h", h}}, std::move(attributes)};
}

}  // namespace bic::testing_support
