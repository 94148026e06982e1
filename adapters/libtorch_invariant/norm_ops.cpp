#include <ATen/ops/empty.h>
#include <ATen/ops/rms_norm_compositeimplicitautograd_dispatch.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "adapters/libtorch_invariant/binding.h"
#include "adapters/libtorch_invariant/ops.h"
#include "reference_kernels/cpu/batch_norm.h"
#include "reference_kernels/cpu/layer_norm.h"

#include BIC_KERNELS(batch_norm)
#include BIC_KERNELS(layer_norm)
#include BIC_STOCK(native_batch_norm)
#include BIC_STOCK(native_group_norm)
#include BIC_STOCK(native_layer_norm)

namespace bic::libtorch_invariant {
namespace {

using Norm = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Parameter = std::optional<at::Tensor>;

bool given(const Parameter& t) { return t && t->defined(); }

bool has_shape(const Parameter& t, at::IntArrayRef shape) {
  return !given(t) || (t->sizes() == shape && served(t->scalar_type()));
}

bool normalises(const at::Tensor& x, at::IntArrayRef normalized) {
  const auto rank = static_cast<std::int64_t>(normalized.size());
  return served(x.scalar_type()) && rank >= 1 && rank <= x.dim() &&
         x.sizes().slice(x.dim() - rank) == normalized;
}

/// 16-bit rows with parameters of another type, as under autocast: all is computed in float and y
/// rounded once, as the kernels do it for 16-bit types.
enum class Types { kOne, kMixed, kUnserved };

Types types_of(const at::Tensor& x, std::initializer_list<const Parameter*> parameters) {
  const auto all = [&](auto holds) {
    return std::ranges::all_of(parameters,
                               [&](const Parameter* t) { return !given(*t) || holds(**t); });
  };
  if (all([&](const at::Tensor& t) { return alike(t, x); })) return Types::kOne;
  if (!all([&](const at::Tensor& t) { return t.device() == x.device(); })) return Types::kUnserved;
  const bool narrow = x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf;
  return narrow ? Types::kMixed : Types::kUnserved;
}

Parameter widened(const Parameter& t) {
  return given(t) ? Parameter(t->to(at::kFloat)) : std::nullopt;
}

/// A row-major copy where it is not, or nothing.
at::Tensor dense_or_none(const Parameter& t) { return given(t) ? t->contiguous() : at::Tensor(); }

/// How an operator falls into the kernel's rows, and the shape of the moments that it returns.
struct RowNorm {
  std::int64_t h = 0;
  double eps = 0;
  std::vector<std::int64_t> moments;
  bool center = true;
  std::int64_t groups = 1, inner = 1;
};

/// All tensors of one type.
Norm normalise(const at::Tensor& input,
               const Parameter& weight,
               const Parameter& bias,
               const RowNorm& norm) {
  const at::Tensor x = input.contiguous(), w = dense_or_none(weight), b = dense_or_none(bias);
  at::Tensor y = at::empty(x.sizes(), x.options());
  at::Tensor mean = at::empty(norm.moments, x.options());
  at::Tensor rstd = at::empty(norm.moments, x.options());
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    cpu::LayerNormArgs<T> args;
    args.x = libtorch_invariant::input<T>(x);
    args.weight = w.defined() ? libtorch_invariant::input<T>(w) : nullptr;
    args.bias = b.defined() ? libtorch_invariant::input<T>(b) : nullptr;
    args.y = output<T>(y);
    args.mean = output<T>(mean);
    args.rstd = output<T>(rstd);
    args.rows = mean.numel();
    args.h = args.x_row = args.y_row = norm.h;
    args.eps = norm.eps;
    args.center = norm.center;
    args.groups = norm.groups;
    args.inner = norm.inner;
    kernels::layer_norm<T>(args, launch_for(y));
  });
  return {y, mean, rstd};
}

/// Rows of the trailing `normalized` axes.
RowNorm rows_of(const at::Tensor& x, at::IntArrayRef normalized, double eps) {
  std::vector<std::int64_t> moments(x.dim(), 1);
  std::copy_n(x.sizes().begin(), x.sizes().size() - normalized.size(), moments.begin());
  return {.h = c10::multiply_integers(normalized), .eps = eps, .moments = std::move(moments)};
}

bool is_given_with(const Parameter& t, at::IntArrayRef shape) {
  return given(t) && has_shape(t, shape);
}

/// Inference over the second axis, all tensors of one type; y as `input` lies in memory.
at::Tensor batch_normalise(const at::Tensor& input,
                           const std::array<Parameter, 4>& parameters,
                           double eps) {
  const auto format = input.suggest_memory_format();
  const at::Tensor x = input.contiguous(format);
  at::Tensor y = at::empty(x.sizes(), x.options(), format);
  const at::Tensor m = dense_or_none(parameters[0]), v = dense_or_none(parameters[1]),
                   w = dense_or_none(parameters[2]), b = dense_or_none(parameters[3]);
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    cpu::BatchNormArgs<T> args;
    args.x = libtorch_invariant::input<T>(x);
    args.mean = libtorch_invariant::input<T>(m);
    args.variance = libtorch_invariant::input<T>(v);
    args.weight = w.defined() ? libtorch_invariant::input<T>(w) : nullptr;
    args.bias = b.defined() ? libtorch_invariant::input<T>(b) : nullptr;
    args.y = output<T>(y);
    args.channels = x.size(1);
    const std::int64_t others = args.channels == 0 ? 0 : x.numel() / args.channels;
    const bool channels_last = format != at::MemoryFormat::Contiguous;
    args.outer = channels_last ? others : x.size(0);
    args.inner = channels_last || args.outer == 0 ? 1 : others / args.outer;
    args.eps = eps;
    kernels::batch_norm<T>(args, launch_for(y));
  });
  return y;
}

}  // namespace

Norm native_layer_norm(const at::Tensor& x,
                       at::IntArrayRef normalized,
                       const Parameter& weight,
                       const Parameter& bias,
                       double eps) {
  const Types types = types_of(x, {&weight, &bias});
  if (!normalises(x, normalized) || !has_shape(weight, normalized) ||
      !has_shape(bias, normalized) || types == Types::kUnserved) {
    return stock::native_layer_norm(x, normalized, weight, bias, eps);
  }
  if (types == Types::kOne) return normalise(x, weight, bias, rows_of(x, normalized, eps));
  auto [y, mean, rstd] = libtorch_invariant::native_layer_norm(
      x.to(at::kFloat), normalized, widened(weight), widened(bias), eps);
  return {y.to(x.scalar_type()), mean, rstd};
}

at::Tensor rms_norm(const at::Tensor& x,
                    at::IntArrayRef normalized,
                    const Parameter& weight,
                    std::optional<double> eps) {
  const Types types = types_of(x, {&weight});
  if (!normalises(x, normalized) || !has_shape(weight, normalized) || types == Types::kUnserved) {
    return at::compositeimplicitautograd::rms_norm(x, normalized, weight, eps);
  }
  const bool wide = x.scalar_type() == at::kDouble;
  const double epsilon = eps.value_or(wide ? std::numeric_limits<double>::epsilon()
                                           : std::numeric_limits<float>::epsilon());
  if (types == Types::kMixed) {
    return libtorch_invariant::rms_norm(x.to(at::kFloat), normalized, widened(weight), epsilon)
        .to(x.scalar_type());
  }
  RowNorm norm = rows_of(x, normalized, epsilon);
  norm.center = false;
  return std::get<0>(normalise(x, weight, std::nullopt, norm));
}

Norm native_group_norm(const at::Tensor& x,
                       const Parameter& weight,
                       const Parameter& bias,
                       std::int64_t n,
                       std::int64_t channels,
                       std::int64_t inner,
                       std::int64_t groups,
                       double eps) {
  const Types types = types_of(x, {&weight, &bias});
  if (!served(x.scalar_type()) || !has_shape(weight, {channels}) || !has_shape(bias, {channels}) ||
      types == Types::kUnserved || groups <= 0 || channels % groups != 0) {
    return stock::native_group_norm(x, weight, bias, n, channels, inner, groups, eps);
  }
  if (types == Types::kMixed) {
    auto [y, mean, rstd] = libtorch_invariant::native_group_norm(
        x.to(at::kFloat), widened(weight), widened(bias), n, channels, inner, groups, eps);
    return {y.to(x.scalar_type()), mean, rstd};
  }
  auto [y, mean, rstd] = normalise(x,
                                   weight,
                                   bias,
                                   {.h = channels / groups * inner,
                                    .eps = eps,
                                    .moments = {n, groups},
                                    .groups = groups,
                                    .inner = inner});
  return {y.contiguous(x.suggest_memory_format()), mean, rstd};
}

Norm native_batch_norm(const at::Tensor& x,
                       const Parameter& weight,
                       const Parameter& bias,
                       const Parameter& mean,
                       const Parameter& variance,
                       bool training,
                       double momentum,
                       double eps) {
  const Types types = types_of(x, {&weight, &bias, &mean, &variance});
  const bool inference = !training && served(x.scalar_type()) && x.dim() >= 2;
  if (!inference || types == Types::kUnserved || !is_given_with(mean, {x.size(1)}) ||
      !is_given_with(variance, {x.size(1)}) || !has_shape(weight, {x.size(1)}) ||
      !has_shape(bias, {x.size(1)})) {
    return stock::native_batch_norm(x, weight, bias, mean, variance, training, momentum, eps);
  }
  const at::Tensor none = at::empty({0}, mean->options());  // as stock returns them
  if (types == Types::kOne) {
    return {batch_normalise(x, {mean, variance, weight, bias}, eps), none, none};
  }
  const at::Tensor y = batch_normalise(
      x.to(at::kFloat), {widened(mean), widened(variance), widened(weight), widened(bias)}, eps);
  return {y.to(x.scalar_type()), none, none};
}

}  // namespace bic::libtorch_invariant
