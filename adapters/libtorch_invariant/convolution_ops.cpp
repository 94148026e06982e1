#include <ATen/ops/convolution_native.h>
#include <ATen/ops/empty.h>

#include <vector>

#include "adapters/libtorch_invariant/ops.h"
#include "adapters/libtorch_invariant/product.h"
#include "reference_kernels/cpu/convolution.h"

#include BIC_KERNELS(convolution)

namespace bic::libtorch_invariant {
namespace {

/// Axis `i` of a convolution; `in` and `taps` are extents.
cpu::ConvolutionAxis axis_of(std::int64_t in,
                             std::int64_t taps,
                             at::IntArrayRef stride,
                             at::IntArrayRef padding,
                             at::IntArrayRef dilation,
                             std::size_t i) {
  const auto at = [i](at::IntArrayRef list) { return list.size() == 1 ? list[0] : list[i]; };
  cpu::ConvolutionAxis axis{in, taps, 0, at(stride), at(padding), at(dilation)};
  const std::int64_t span = axis.dilation * (taps - 1) + 1;
  const bool valid =
      axis.stride > 0 && axis.padding >= 0 && axis.dilation > 0 && in + 2 * axis.padding >= span;
  if (valid) axis.out = (in + 2 * axis.padding - span) / axis.stride + 1;
  return axis;
}

bool fit_rank(at::IntArrayRef list, std::int64_t spatial) {
  return list.size() == 1 || static_cast<std::int64_t>(list.size()) == spatial;
}

bool takes_convolution(const at::Tensor& x,
                       const at::Tensor& w,
                       const std::optional<at::Tensor>& bias,
                       std::int64_t groups) {
  if (!same_served_type(x, w) || (x.dim() != 3 && x.dim() != 4) || w.dim() != x.dim()) return false;
  if (groups < 1 || w.size(0) % groups != 0 || w.size(1) * groups != x.size(1)) return false;
  if (w.numel() == 0 || x.numel() == 0) return false;
  if (!bias || !bias->defined()) return true;
  return alike(*bias, x) && bias->dim() == 1 && bias->size(0) == w.size(0);
}

template <class T>
cpu::ConvolutionArgs<T> arguments(const at::Tensor& x,
                                  const at::Tensor& w,
                                  const at::Tensor& bias,
                                  const at::Tensor& y,
                                  std::int64_t groups) {
  cpu::ConvolutionArgs<T> args;
  args.x = input<T>(x), args.filters = input<T>(w), args.y = output<T>(y);
  args.bias = bias.defined() ? input<T>(bias) : nullptr;
  args.batch = x.size(0), args.groups = groups;
  args.channels = w.size(1), args.n = w.size(0) / groups;
  args.x_batch = x.stride(0), args.x_channel = x.stride(1);
  args.x_w = x.stride(-1);
  args.x_h = x.dim() == 4 ? x.stride(2) : 0;
  return args;
}

}  // namespace

at::Tensor convolution(const at::Tensor& x,
                       const at::Tensor& w,
                       const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride,
                       at::IntArrayRef padding,
                       at::IntArrayRef dilation,
                       bool transposed,
                       at::IntArrayRef output_padding,
                       std::int64_t groups) {
  const std::int64_t spatial = x.dim() - 2;
  cpu::ConvolutionAxis h{1, 1, 1}, wide{1, 1, 0};
  bool taken = !transposed && takes_convolution(x, w, bias, groups);
  for (at::IntArrayRef list : {stride, padding, dilation}) taken = taken && fit_rank(list, spatial);
  if (taken) {
    wide = axis_of(x.size(-1), w.size(-1), stride, padding, dilation, spatial - 1);
    if (spatial == 2) h = axis_of(x.size(2), w.size(2), stride, padding, dilation, 0);
  }
  if (!taken || h.out == 0 || wide.out == 0) {
    return at::native::convolution(
        x, w, bias, stride, padding, dilation, transposed, output_padding, groups);
  }
  std::vector<std::int64_t> shape{x.size(0), w.size(0), wide.out};
  if (spatial == 2) shape.insert(shape.begin() + 2, h.out);
  at::Tensor y = at::empty(shape, x.options());
  const at::Tensor filters = w.contiguous();
  const at::Tensor added = bias && bias->defined() ? bias->contiguous() : at::Tensor();
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    auto args = arguments<T>(x, filters, added, y, groups);
    args.h = h, args.w = wide;
    kernels::convolution<T>(args, launch_for(y));
  });
  return y;
}

}  // namespace bic::libtorch_invariant
