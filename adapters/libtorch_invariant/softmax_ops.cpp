#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp_native.h>

#include "adapters/libtorch_invariant/binding.h"
#include "adapters/libtorch_invariant/ops.h"
#include "adapters/libtorch_invariant/reductions.h"
#include "reference_kernels/cpu/softmax.h"

#include BIC_KERNELS(softmax)
#include BIC_STOCK(_log_softmax)
#include BIC_STOCK(_softmax)

namespace bic::libtorch_invariant {
namespace {

template <class T>
cpu::SoftmaxArgs<T> softmax_args(const View& view, const at::Tensor& y) {
  cpu::SoftmaxArgs<T> args;
  args.x = input<T>(view.x);
  args.y = output<T>(y);
  args.outer = view.outer.extent, args.x_outer = view.outer.stride;
  args.reduced = view.reduced.extent, args.x_reduced = view.reduced.stride;
  args.inner = view.inner.extent, args.x_inner = view.inner.stride;
  args.y_outer = args.reduced * args.inner, args.y_reduced = args.inner, args.y_inner = 1;
  return args;
}

void softmax_into(const at::Tensor& x, std::int64_t dim, bool log, const at::Tensor& y) {
  const at::Tensor some = x.dim() == 0 ? x.unsqueeze(0) : x;
  const std::int64_t axis = c10::maybe_wrap_dim(dim, some.dim());
  const View view = view_around(some, axis, axis + 1, 1);
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    const auto args = softmax_args<T>(view, y);
    log ? kernels::log_softmax<T>(args, launch_for(y)) : kernels::softmax<T>(args, launch_for(y));
  });
}

at::Tensor softmax_of(const at::Tensor& x, std::int64_t dim, bool log) {
  at::Tensor y = at::empty(x.sizes(), x.options());
  softmax_into(x, dim, log, y);
  return y;
}

at::Tensor& softmax_of_out(const at::Tensor& x, std::int64_t dim, bool log, at::Tensor& out) {
  at::native::resize_output(out, x.sizes());
  return write(out, out.is_alias_of(x), [&](const at::Tensor& y) { softmax_into(x, dim, log, y); });
}

void logsumexp_into(const at::Tensor& x, const std::vector<bool>& summed, const at::Tensor& y) {
  const View view = view_of_sum(x, summed, 1);
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    auto args = softmax_args<T>(view, y);
    args.y_outer = args.inner;
    kernels::logsumexp<T>(args, launch_for(y));
  });
}

}  // namespace

at::Tensor softmax(const at::Tensor& x, std::int64_t dim, bool half_to_float) {
  if (!served(x.scalar_type())) return stock::_softmax(x, dim, half_to_float);
  if (half_to_float) return softmax_of(x.to(at::kFloat), dim, false);
  return softmax_of(x, dim, false);
}

at::Tensor& softmax_out(const at::Tensor& x,
                        std::int64_t dim,
                        bool half_to_float,
                        at::Tensor& out) {
  const at::Tensor wide = half_to_float ? x.to(at::kFloat) : x;
  if (!served(x.scalar_type()) || !alike(out, wide)) {
    return stock::_softmax_outf(x, dim, half_to_float, out);
  }
  return softmax_of_out(wide, dim, false, out);
}

at::Tensor log_softmax(const at::Tensor& x, std::int64_t dim, bool half_to_float) {
  if (!served(x.scalar_type())) return stock::_log_softmax(x, dim, half_to_float);
  if (half_to_float) return softmax_of(x.to(at::kFloat), dim, true);
  return softmax_of(x, dim, true);
}

at::Tensor& log_softmax_out(const at::Tensor& x,
                            std::int64_t dim,
                            bool half_to_float,
                            at::Tensor& out) {
  const at::Tensor wide = half_to_float ? x.to(at::kFloat) : x;
  if (!served(x.scalar_type()) || !alike(out, wide)) {
    return stock::_log_softmax_outf(x, dim, half_to_float, out);
  }
  return softmax_of_out(wide, dim, true, out);
}

at::Tensor logsumexp(const at::Tensor& x, at::IntArrayRef dims, bool keepdim) {
  if (!served(x.scalar_type())) {
    return at::native::logsumexp(x, dims, keepdim);
  }
  const auto summed = summed_axes(x, dims);
  at::Tensor y = at::empty(sum_shape(x, summed, keepdim), x.options());
  logsumexp_into(x, summed, y);
  return y;
}

at::Tensor& logsumexp_out(const at::Tensor& x,
                          at::IntArrayRef dims,
                          bool keepdim,
                          at::Tensor& out) {
  if (!served(x.scalar_type()) || !alike(out, x)) {
    return at::native::logsumexp_out(x, dims, keepdim, out);
  }
  const auto summed = summed_axes(x, dims);
  at::native::resize_output(out, sum_shape(x, summed, keepdim));
  return write(out, out.is_alias_of(x), [&](const at::Tensor& y) { logsumexp_into(x, summed, y); });
}

}  // namespace bic::libtorch_invariant
