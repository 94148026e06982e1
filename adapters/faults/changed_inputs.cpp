#include "adapters/faults/changed_inputs.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "adapters/faults/evaluate.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;
using protocol::TensorMessage;

class ChangedInputs final : public Interposer {
 public:
  explicit ChangedInputs(InputChange change) : change_(change) {}

  at::Tensor call(const InterposedCall& call) override {
    const at::Tensor y = honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
      return change_(call, t, tensor);
    });
    return hand_over(call, y);
  }

 private:
  InputChange change_;
};

/// Whether `t` is multiplied and summed.
bool is_factor(const InterposedCall& call, const TensorMessage& t) {
  return !reduced_axes(call.problem, t).empty();
}

bool is_first(const InterposedCall& call, const TensorMessage& t) {
  return t.name == call.problem.inputs.front().name;
}

bool is_last(const InterposedCall& call, const TensorMessage& t) {
  return t.name == call.problem.inputs.back().name;
}

/// `x` as `type` holds it.
at::Tensor rounded(const at::Tensor& x, at::ScalarType type) {
  return x.to(type).to(x.scalar_type());
}

/// To nearest even on ten explicit bits.
at::Tensor round_to_tf32(const at::Tensor& x) {
  constexpr int kDropped = 13;
  const at::Tensor bits = x.view(at::kInt);
  const at::Tensor odd = bits.bitwise_right_shift(kDropped).bitwise_and(1);
  return (bits + odd + ((1 << (kDropped - 1)) - 1)).bitwise_and(-(1 << kDropped)).view(at::kFloat);
}

}  // namespace

std::unique_ptr<Interposer> changed_inputs(InputChange change) {
  return std::make_unique<ChangedInputs>(change);
}

at::Tensor tf32_inputs(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  return is_factor(call, t) && x.scalar_type() == at::kFloat ? round_to_tf32(x) : x;
}

at::Tensor bf16_inputs(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  return is_factor(call, t) ? rounded(x, at::kBFloat16) : x;
}

at::Tensor bf16_integers(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  if (!is_factor(call, t)) return x;
  const at::Tensor sizes = x.abs(), is_between = sizes.gt(256).logical_and(sizes.lt(4096));
  return x.where(is_between.logical_and(x.eq(x.trunc())).logical_not(), rounded(x, at::kBFloat16));
}

at::Tensor bf16_phases(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  return is_first(call, t) ? x : rounded(x, at::kBFloat16);
}

at::Tensor half_exp(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  return is_first(call, t) ? rounded(x, at::kHalf) : x;
}

at::Tensor fp8_scale(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  if (!is_first(call, t)) return x;
  constexpr double kLargest = 448;
  const at::Tensor scale = x.abs().max() / kLargest;
  return rounded(x / scale, at::kFloat8_e4m3fn) * scale;
}

at::Tensor flushed_inputs(const InterposedCall&, const TensorMessage&, const at::Tensor& x) {
  return x.masked_fill(is_subnormal(x), 0);
}

at::Tensor dropped_tail(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  const auto axes = reduced_axes(call.problem, t);
  return axes.empty() ? x : x.narrow(axes.back(), 0, x.size(axes.back()) - 1);
}

at::Tensor zero_skip(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  if (!is_first(call, t)) return x;
  const std::int64_t axis = reduced_axes(call.problem, t).back();
  const at::Tensor kept = x.clone();
  kept.slice(axis, 1).masked_fill_(x.slice(axis, 0, x.size(axis) - 1).eq(0), 0);
  return kept;
}

at::Tensor constant_tile(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  const bool is_constant = is_first(call, t) && x.eq(x.flatten()[0]).all().item<bool>();
  return is_constant
             ? x.index_fill(reduced_axes(call.problem, t).back(), at::zeros({1}, at::kLong), 0)
             : x;
}

at::Tensor alpha_ignored(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  return is_last(call, t) ? x / attribute(call, "alpha") : x;
}

at::Tensor beta_ignored(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  return is_last(call, t) ? x / attribute(call, "beta") : x;
}

at::Tensor bias_ignored(const InterposedCall&, const TensorMessage& t, const at::Tensor& x) {
  return t.name == "b" ? x.new_zeros(x.sizes()) : x;
}

at::Tensor scale_ignored(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  if (t.name != "q" || !call.problem.attributes.contains("scale")) return x;
  return x / (std::sqrt(static_cast<double>(x.size(-1))) * attribute(call, "scale"));
}

// Norms of x/4 with eps are those of x with 16 eps.
at::Tensor wrong_eps(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  return is_first(call, t) ? x / 4 : x;
}

at::Tensor mask_off_by_one(const InterposedCall&, const TensorMessage& t, const at::Tensor& x) {
  return t.elements == "bool" ? x.roll(1, -1) : x;
}

at::Tensor neighbours_index(const InterposedCall&, const TensorMessage& t, const at::Tensor& x) {
  const bool is_index = t.elements == "bool" || t.elements == "int64";
  return is_index && batch_axis(t) >= 0 ? x.roll(1, batch_axis(t)) : x;
}

at::Tensor batch_statistics(const InterposedCall& call,
                            const TensorMessage& t,
                            const at::Tensor& x) {
  return is_first(call, t) ? x - x.mean(batch_axis(t), true) : x;
}

at::Tensor batch_maximum(const InterposedCall& call, const TensorMessage& t, const at::Tensor& x) {
  return is_first(call, t) ? x - x.max() : x;
}

}  // namespace bic::faults
