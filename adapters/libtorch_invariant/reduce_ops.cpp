#include <ATen/native/Resize.h>
#include <ATen/ops/_softmax_cpu_dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/native_layer_norm_native.h>
#include <ATen/ops/sum_cpu_dispatch.h>

#include <algorithm>
#include <vector>

#include "adapters/libtorch_invariant/binding.h"
#include "adapters/libtorch_invariant/ops.h"
#include "reference_kernels/cpu/layer_norm.h"
#include "reference_kernels/cpu/softmax.h"
#include "reference_kernels/cpu/sum.h"

namespace bic::libtorch_invariant {
namespace {

using Shape = std::vector<std::int64_t>;

/// Some adjacent axes walked as one.
struct Walk {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
};

/// Axes [first, last) of `x` as at most `most` walks, slowest first; empty when they are more.
std::vector<Walk> collapse(const at::Tensor& x,
                           std::int64_t first,
                           std::int64_t last,
                           std::size_t most) {
  std::vector<Walk> walks;
  for (std::int64_t i = first; i < last; ++i) {
    if (x.size(i) == 1) continue;
    if (!walks.empty() && walks.back().stride == x.size(i) * x.stride(i)) {
      walks.back() = {walks.back().extent * x.size(i), x.stride(i)};
    } else {
      walks.push_back({x.size(i), x.stride(i)});
    }
  }
  if (walks.empty()) walks.push_back({});
  if (walks.size() > most) walks.clear();
  return walks;
}

/// `x` as outer, reduced and inner axes; the reduced ones are [first, last).
struct View {
  at::Tensor x;  ///< a copy of it where the strides do not collapse
  Walk outer, slow, reduced, inner;
};

View view_around(const at::Tensor& x, std::int64_t first, std::int64_t last, std::size_t most) {
  const auto outer = collapse(x, 0, first, 1);
  const auto reduced = collapse(x, first, last, most);
  const auto inner = collapse(x, last, x.dim(), 1);
  if (outer.empty() || reduced.empty() || inner.empty()) {
    return view_around(x.contiguous(), first, last, most);
  }
  const Walk slow = reduced.size() == 2 ? reduced[0] : Walk{};
  return {x, outer[0], slow, reduced.back(), inner[0]};
}

/// Which axes are summed: all of them for none given, as ATen has it.
std::vector<bool> summed_axes(const at::Tensor& x, at::OptionalIntArrayRef dims) {
  std::vector<bool> summed(x.dim(), !dims || dims->empty());
  if (!dims) return summed;
  for (std::int64_t dim : *dims) {
    const std::int64_t axis = c10::maybe_wrap_dim(dim, x.dim());
    if (axis < x.dim()) summed[axis] = true;
  }
  return summed;
}

/// The summed axes put side by side, in their order, which is the order of the sum.
View view_of_sum(const at::Tensor& x, const std::vector<bool>& summed) {
  const auto begin = summed.begin();
  const auto first = std::find(begin, summed.end(), true);
  const auto last = std::find(first, summed.end(), false);
  if (std::find(last, summed.end(), true) == summed.end()) {
    return view_around(x, first - begin, last - begin, 2);
  }
  Shape order, behind;
  for (std::int64_t i = 0; i < x.dim(); ++i) (summed[i] ? behind : order).push_back(i);
  const auto kept = static_cast<std::int64_t>(order.size());
  order.insert(order.end(), behind.begin(), behind.end());
  return view_around(x.permute(order), kept, x.dim(), 2);
}

Shape sum_shape(const at::Tensor& x, const std::vector<bool>& summed, bool keepdim) {
  Shape shape;
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    if (!summed[i]) shape.push_back(x.size(i));
    if (summed[i] && keepdim) shape.push_back(1);
  }
  return shape;
}

void sum_into(const at::Tensor& x, const std::vector<bool>& summed, const at::Tensor& y) {
  const View view = view_of_sum(x, summed);
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    cpu::SumArgs<T> args;
    args.x = input<T>(view.x);
    args.y = output<T>(y);
    args.outer = view.outer.extent, args.x_outer = view.outer.stride;
    args.slow = view.slow.extent, args.x_slow = view.slow.stride;
    args.reduced = view.reduced.extent, args.x_reduced = view.reduced.stride;
    args.inner = view.inner.extent, args.x_inner = view.inner.stride;
    args.y_outer = args.inner;
    cpu::sum<T>(args, parallel);
  });
}

/// The input as the type that is summed; stock converts first too.
at::Tensor summand(const at::Tensor& x, std::optional<at::ScalarType> dtype) {
  return x.to(dtype.value_or(x.scalar_type()));
}

void softmax_into(const at::Tensor& x, std::int64_t dim, const at::Tensor& y) {
  const at::Tensor some = x.dim() == 0 ? x.unsqueeze(0) : x;
  const std::int64_t axis = c10::maybe_wrap_dim(dim, some.dim());
  const View view = view_around(some, axis, axis + 1, 1);
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    cpu::SoftmaxArgs<T> args;
    args.x = input<T>(view.x);
    args.y = output<T>(y);
    args.outer = view.outer.extent, args.x_outer = view.outer.stride;
    args.reduced = view.reduced.extent, args.x_reduced = view.reduced.stride;
    args.inner = view.inner.extent, args.x_inner = view.inner.stride;
    args.y_outer = args.reduced * args.inner, args.y_reduced = args.inner, args.y_inner = 1;
    cpu::softmax<T>(args, parallel);
  });
}

bool given(const std::optional<at::Tensor>& t) { return t && t->defined(); }

bool fits_norm(const std::optional<at::Tensor>& t, at::IntArrayRef normalized) {
  return !given(t) || (t->sizes() == normalized && served(t->scalar_type()));
}

bool takes_layer_norm(const at::Tensor& x,
                      at::IntArrayRef normalized,
                      const std::optional<at::Tensor>& weight,
                      const std::optional<at::Tensor>& bias) {
  const auto rank = static_cast<std::int64_t>(normalized.size());
  return served(x.scalar_type()) && rank >= 1 && rank <= x.dim() &&
         x.sizes().slice(x.dim() - rank) == normalized && fits_norm(weight, normalized) &&
         fits_norm(bias, normalized);
}

using Norm = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

/// 16-bit rows with parameters of another type, as under autocast.
bool is_mixed(const at::Tensor& x,
              const std::optional<at::Tensor>& weight,
              const std::optional<at::Tensor>& bias) {
  const auto other = [&](const std::optional<at::Tensor>& t) {
    return given(t) && t->scalar_type() != x.scalar_type();
  };
  return other(weight) || other(bias);
}

std::optional<at::Tensor> widened(const std::optional<at::Tensor>& t) {
  return given(t) ? std::optional(t->to(at::kFloat)) : std::nullopt;
}

/// A row-major copy where it is not, or nothing.
at::Tensor dense_or_none(const std::optional<at::Tensor>& t) {
  return given(t) ? t->contiguous() : at::Tensor();
}

/// All tensors of one type; `h` trailing elements make a row.
Norm layer_norm_rows(const at::Tensor& x,
                     std::int64_t kept_axes,
                     std::int64_t h,
                     const at::Tensor& weight,
                     const at::Tensor& bias,
                     double eps) {
  Shape moments(x.dim(), 1);
  std::copy_n(x.sizes().begin(), kept_axes, moments.begin());
  at::Tensor y = at::empty(x.sizes(), x.options());
  at::Tensor mean = at::empty(moments, x.options());
  at::Tensor rstd = at::empty(moments, x.options());
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    cpu::LayerNormArgs<T> args;
    args.x = input<T>(x);
    args.weight = weight.defined() ? input<T>(weight) : nullptr;
    args.bias = bias.defined() ? input<T>(bias) : nullptr;
    args.y = output<T>(y);
    args.mean = output<T>(mean);
    args.rstd = output<T>(rstd);
    args.rows = mean.numel();
    args.h = args.x_row = args.y_row = h;
    args.eps = eps;
    cpu::layer_norm<T>(args, parallel);
  });
  return {y, mean, rstd};
}

}  // namespace

at::Tensor sum(const at::Tensor& x, std::optional<at::ScalarType> dtype) {
  return sum_dim(x, std::nullopt, false, dtype);
}

at::Tensor sum_dim(const at::Tensor& x,
                   at::OptionalIntArrayRef dims,
                   bool keepdim,
                   std::optional<at::ScalarType> dtype) {
  if (!served(x.scalar_type()) || !served(dtype.value_or(x.scalar_type()))) {
    return at::cpu::sum(x, dims, keepdim, dtype);
  }
  const auto summed = summed_axes(x, dims);
  const at::Tensor terms = summand(x, dtype);
  at::Tensor y = at::empty(sum_shape(x, summed, keepdim), terms.options());
  sum_into(terms, summed, y);
  return y;
}

at::Tensor& sum_dim_out(const at::Tensor& x,
                        at::OptionalIntArrayRef dims,
                        bool keepdim,
                        std::optional<at::ScalarType> dtype,
                        at::Tensor& out) {
  if (!served(x.scalar_type()) || out.scalar_type() != dtype.value_or(x.scalar_type()) ||
      !served(out.scalar_type())) {
    return at::cpu::sum_outf(x, dims, keepdim, dtype, out);
  }
  const auto summed = summed_axes(x, dims);
  const at::Tensor terms = summand(x, dtype);
  at::native::resize_output(out, sum_shape(x, summed, keepdim));
  return write(
      out, out.is_alias_of(terms), [&](const at::Tensor& y) { sum_into(terms, summed, y); });
}

at::Tensor softmax(const at::Tensor& x, std::int64_t dim, bool half_to_float) {
  if (!served(x.scalar_type()) || half_to_float) return at::cpu::_softmax(x, dim, half_to_float);
  at::Tensor y = at::empty(x.sizes(), x.options());
  softmax_into(x, dim, y);
  return y;
}

at::Tensor& softmax_out(const at::Tensor& x,
                        std::int64_t dim,
                        bool half_to_float,
                        at::Tensor& out) {
  if (!served(x.scalar_type()) || half_to_float || out.scalar_type() != x.scalar_type()) {
    return at::cpu::_softmax_outf(x, dim, half_to_float, out);
  }
  at::native::resize_output(out, x.sizes());
  return write(out, out.is_alias_of(x), [&](const at::Tensor& y) { softmax_into(x, dim, y); });
}

Norm native_layer_norm(const at::Tensor& x,
                       at::IntArrayRef normalized,
                       const std::optional<at::Tensor>& weight,
                       const std::optional<at::Tensor>& bias,
                       double eps) {
  const bool mixed = is_mixed(x, weight, bias);
  const bool narrow = x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf;
  if (!takes_layer_norm(x, normalized, weight, bias) || (mixed && !narrow)) {
    return at::native::layer_norm_cpu(x, normalized, weight, bias, eps);
  }
  if (mixed) {
    // Everything in float and y rounded once, as the kernel does it for 16-bit types.
    auto [y, mean, rstd] = libtorch_invariant::native_layer_norm(
        x.to(at::kFloat), normalized, widened(weight), widened(bias), eps);
    return {y.to(x.scalar_type()), mean, rstd};
  }
  return layer_norm_rows(x.contiguous(),
                         x.dim() - static_cast<std::int64_t>(normalized.size()),
                         c10::multiply_integers(normalized),
                         dense_or_none(weight),
                         dense_or_none(bias),
                         eps);
}

}  // namespace bic::libtorch_invariant
