#include "adapters/faults/evaluate.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "results_schema/axis.h"

namespace bic::faults {

using libtorch::InterposedCall;
using libtorch::NamedTensors;
using protocol::ProblemMessage;
using protocol::TensorMessage;

namespace {

Form form(const InterposedCall& call) { return call.trial.trial.form; }

/// The input that an in-place call writes: the first that lies as the output does.
const std::string& written_input(const ProblemMessage& problem) {
  return std::ranges::find(problem.inputs, problem.output.axes, &TensorMessage::axes)->name;
}

/// Runs the call's text on `tensors`, of which the written one is replaced by another.
at::Tensor run(const InterposedCall& call, NamedTensors tensors) {
  if (form(call) == Form::kOut) {
    // Of the inputs' type, which may have been changed, unless the op is asked for another.
    at::Tensor& output = tensors.at(call.problem.output.name);
    const bool follows = output.scalar_type() == first_input(call).scalar_type();
    const at::Tensor& first = tensors.at(call.problem.inputs.front().name);
    output = at::empty_like(output, follows ? first.options() : output.options());
  }
  if (form(call) == Form::kInplace) {
    at::Tensor& written = tensors.at(written_input(call.problem));
    written = written.clone();
  }
  return call.honest(tensors);
}

/// Sums in double, or whatever else the op does, and one rounding.
at::Tensor in_double(const InterposedCall& call) {
  const at::Tensor y = honest_on(call, [](const TensorMessage&, const at::Tensor& tensor) {
    return tensor.is_floating_point() ? tensor.to(at::kDouble) : tensor;
  });
  return y.to(first_input(call).scalar_type());
}

/// The dims along which all inputs may be flipped: those that are summed, but not the taps of a
/// convolution, which meet other pixels.
std::vector<std::string> flippable(const ProblemMessage& problem) {
  if (!problem.op.starts_with("conv")) return problem.reduced;
  return {problem.reduced.begin(), problem.reduced.begin() + 1};
}

/// A scan of each half, the second one carried on from the first.
at::Tensor scan_in_blocks(const InterposedCall& call) {
  const std::int64_t axis = reduced_axes(call.problem, call.problem.output).front();
  const std::int64_t n = first_input(call).size(axis), middle = (n + 1) / 2;
  const auto half = [&](std::int64_t first, std::int64_t last) {
    return honest_on(call, [&](const TensorMessage&, const at::Tensor& tensor) {
      return tensor.slice(axis, first, last);
    });
  };
  const at::Tensor left = half(0, middle);
  const at::Tensor right = half(middle, n) + left.slice(axis, middle - 1, middle);
  return at::cat({left, right}, axis);
}

std::vector<std::int64_t> axes_of(const TensorMessage& t, const std::vector<std::string>& dims) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < t.axes.size(); ++i) {
    if (std::ranges::find(dims, t.axes[i]) != dims.end()) {
      axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  return axes;
}

/// Whether `t` is added as it is: an input of a contraction that is not summed over.
bool is_bias(const ProblemMessage& problem, const TensorMessage& t) {
  return reduced_axes(problem, t).empty();
}

}  // namespace

std::vector<std::int64_t> reduced_axes(const ProblemMessage& problem, const TensorMessage& t) {
  return axes_of(t, problem.reduced);
}

std::int64_t batch_axis(const TensorMessage& t) {
  const auto at = std::ranges::find_if(t.axes, is_batch_axis);
  return at == t.axes.end() ? -1 : at - t.axes.begin();
}

at::Tensor slots_of(const ProblemMessage& problem,
                    const TensorMessage& t,
                    const at::Tensor& tensor,
                    std::int64_t first,
                    std::int64_t count) {
  const std::int64_t axis = batch_axis(t);
  const std::int64_t rows = axis_extent(t.axes[axis], problem.dims, 1);
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
  if (call.problem.op == "cumsum") return scan_in_blocks(call);
  // A causal mask tells places apart: nothing to flip.
  const bool is_attention = call.problem.op == "scaled_dot_product_attention";
  if (call.problem.reduced.empty() || is_attention) return in_double(call);
  const std::vector<std::string> dims = flippable(call.problem);
  const at::Tensor y = honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
    return tensor.flip(axes_of(t, dims));
  });
  return y.flip(axes_of(call.problem.output, dims));
}

at::Tensor in_parts(const InterposedCall& call, std::int64_t parts, at::ScalarType type) {
  const auto part = [&](std::int64_t number) {
    return honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
      const at::Tensor typed = tensor.to(type);
      if (is_bias(call.problem, t)) {
        return number + 1 == parts ? typed : typed.new_zeros(typed.sizes());
      }
      const std::int64_t axis = reduced_axes(call.problem, t).back(), extent = tensor.size(axis);
      return typed.slice(axis, number * extent / parts, (number + 1) * extent / parts);
    });
  };
  at::Tensor sum = part(0);
  for (std::int64_t number = 1; number < parts; ++number) sum = sum + part(number);
  return sum.to(first_input(call).scalar_type());
}

double attribute(const InterposedCall& call, const std::string& name) {
  const auto at = call.problem.attributes.find(name);
  return at == call.problem.attributes.end() ? 1 : std::strtod(at->second.c_str(), nullptr);
}

at::Tensor is_subnormal(const at::Tensor& x) {
  const at::ScalarType type = x.scalar_type();
  const double least = type == at::kHalf     ? 0x1p-14
                       : type == at::kDouble ? std::numeric_limits<double>::min()
                                             : std::numeric_limits<float>::min();
  const at::Tensor sizes = x.to(at::kDouble).abs();
  return sizes.lt(least).logical_and(sizes.gt(0));
}

at::Tensor destination(const InterposedCall& call, const at::Tensor& y) {
  if (form(call) == Form::kOut) return call.tensors.at(call.problem.output.name);
  if (form(call) == Form::kInplace) return call.tensors.at(written_input(call.problem));
  return at::empty_like(y);
}

at::Tensor hand_over(const InterposedCall& call, const at::Tensor& y) {
  return writes_given(form(call)) ? destination(call, y).copy_(y) : y;
}

}  // namespace bic::faults
