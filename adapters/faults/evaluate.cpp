#include "adapters/faults/evaluate.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "adapters/protocol/gather.h"

namespace bic::faults {

using libtorch::InterposedCall;
using libtorch::NamedTensors;
using protocol::ProblemMessage;
using protocol::TensorMessage;

namespace {

constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
constexpr double kTwiceSqrtTwoByPi = 0x1.9884533d43651p+0;
constexpr double kCubic = 0x1.6e4e26d4801f7p-5;  // 0.044715

Form form(const InterposedCall& call) { return call.trial.trial.form; }

/// Runs the call's text on `tensors`, of which the written one is replaced by another.
at::Tensor run(const InterposedCall& call, NamedTensors tensors) {
  at::Tensor& first = tensors.at(call.problem.inputs.front().name);
  if (form(call) == Form::kOut) {
    at::Tensor& output = tensors.at(call.problem.output.name);
    output = at::empty_like(output, first.options());
  }
  if (form(call) == Form::kInplace) first = first.clone();
  return call.honest(tensors);
}

at::Tensor gelu_in_double(const InterposedCall& call) {
  const at::Tensor x = first_input(call).to(at::kDouble);
  const auto approximate = call.problem.attributes.find("approximate");
  const bool tanh = approximate != call.problem.attributes.end() && approximate->second == "tanh";
  const at::Tensor y = tanh ? x * ((x * x * x * kCubic + x) * kTwiceSqrtTwoByPi).sigmoid()
                            : x * 0.5 * (x * -kSqrtHalf).erfc();
  // One NaN, as the honest kernels write it.
  const at::Tensor canonical = y.masked_fill(y.isnan(), std::numeric_limits<double>::quiet_NaN());
  return canonical.to(first_input(call).scalar_type());
}

/// Whether `t` is added as it is: an input of a contraction that is not summed over.
bool is_bias(const ProblemMessage& problem, const TensorMessage& t) {
  return reduced_axes(problem, t).empty();
}

}  // namespace

std::vector<std::int64_t> reduced_axes(const ProblemMessage& problem, const TensorMessage& t) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < t.axes.size(); ++i) {
    if (std::ranges::find(problem.reduced, t.axes[i]) != problem.reduced.end()) {
      axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  return axes;
}

std::int64_t batch_axis(const TensorMessage& t) {
  const auto at =
      std::ranges::find_if(t.axes, [](const auto& axis) { return axis.ends_with('B'); });
  return at == t.axes.end() ? -1 : at - t.axes.begin();
}

at::Tensor slots_of(const ProblemMessage& problem,
                    const TensorMessage& t,
                    const at::Tensor& tensor,
                    std::int64_t first,
                    std::int64_t count) {
  const std::int64_t axis = batch_axis(t);
  const std::int64_t rows = protocol::axis_extent(t.axes[axis], problem.dims, 1);
  return tensor.narrow(axis, first * rows, count * rows);
}

const at::Tensor& first_input(const InterposedCall& call) {
  return call.tensors.at(call.problem.inputs.front().name);
}

std::int64_t batch_of(const InterposedCall& call) {
  return static_cast<std::int64_t>(call.trial.slots.size());
}

at::Tensor honest(const InterposedCall& call) { return run(call, call.tensors); }

at::Tensor honest_on(
    const InterposedCall& call,
    const std::function<at::Tensor(const TensorMessage&, const at::Tensor&)>& change) {
  NamedTensors tensors = call.tensors;
  for (const TensorMessage& t : call.problem.inputs) {
    tensors[t.name] = change(t, tensors.at(t.name));
  }
  return run(call, std::move(tensors));
}

at::Tensor otherwise(const InterposedCall& call) {
  if (call.problem.op == "gelu") return gelu_in_double(call);
  const at::Tensor y = honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
    return tensor.flip(reduced_axes(call.problem, t));
  });
  return y.flip(reduced_axes(call.problem, call.problem.output));
}

at::Tensor in_halves(const InterposedCall& call) {
  const at::ScalarType type = first_input(call).scalar_type();
  const at::ScalarType wide = type == at::kDouble ? at::kDouble : at::kFloat;
  const auto half = [&](bool second) {
    return honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
      const at::Tensor widened = tensor.to(wide);
      if (is_bias(call.problem, t)) return second ? widened : widened.new_zeros(widened.sizes());
      const std::int64_t axis = reduced_axes(call.problem, t).back();
      const std::int64_t extent = tensor.size(axis), middle = extent / 2;
      return second ? widened.narrow(axis, middle, extent - middle)
                    : widened.narrow(axis, 0, middle);
    });
  };
  return (half(false) + half(true)).to(type);
}

at::Tensor destination(const InterposedCall& call, const at::Tensor& y) {
  if (form(call) == Form::kOut) return call.tensors.at(call.problem.output.name);
  if (form(call) == Form::kInplace) return first_input(call);
  return at::empty_like(y);
}

at::Tensor hand_over(const InterposedCall& call, const at::Tensor& y) {
  return form(call) == Form::kFunctional ? y : destination(call, y).copy_(y);
}

}  // namespace bic::faults
