#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>

#include "adapters/libtorch_invariant/binding.h"
#include "adapters/libtorch_invariant/ops.h"
#include "adapters/libtorch_invariant/reductions.h"
#include "reference_kernels/cpu/cumsum.h"

#include BIC_KERNELS(cumsum)
#include BIC_STOCK(cumsum)

namespace bic::libtorch_invariant {
namespace {

/// `y` is row-major; it may be `x`.
void cumsum_into(const at::Tensor& x, std::int64_t dim, const at::Tensor& y) {
  const at::Tensor some = x.dim() == 0 ? x.unsqueeze(0) : x;
  const std::int64_t axis = c10::maybe_wrap_dim(dim, some.dim());
  const View view = view_around(some, axis, axis + 1, 1);
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    cpu::CumsumArgs<T> args;
    args.x = input<T>(view.x);
    args.y = output<T>(y);
    args.outer = view.outer.extent, args.x_outer = view.outer.stride;
    args.reduced = view.reduced.extent, args.x_reduced = view.reduced.stride;
    args.inner = view.inner.extent, args.x_inner = view.inner.stride;
    args.y_outer = args.reduced * args.inner, args.y_reduced = args.inner, args.y_inner = 1;
    kernels::cumsum<T>(args, launch_for(y));
  });
}

}  // namespace

at::Tensor cumsum(const at::Tensor& x, std::int64_t dim, std::optional<at::ScalarType> dtype) {
  if (!takes_sum(x, dtype)) return stock::cumsum(x, dim, dtype);
  const at::Tensor terms = summand(x, dtype);
  at::Tensor y = at::empty(x.sizes(), terms.options());
  cumsum_into(terms, dim, y);
  return y;
}

at::Tensor& cumsum_out(const at::Tensor& x,
                       std::int64_t dim,
                       std::optional<at::ScalarType> dtype,
                       at::Tensor& out) {
  if (!takes_sum_out(x, dtype, out)) {
    return stock::cumsum_outf(x, dim, dtype, out);
  }
  const at::Tensor terms = summand(x, dtype);
  at::native::resize_output(out, x.sizes());
  return write(
      out, out.is_alias_of(terms), [&](const at::Tensor& y) { cumsum_into(terms, dim, y); });
}

at::Tensor& cumsum_(at::Tensor& x, std::int64_t dim, std::optional<at::ScalarType> dtype) {
  if (!takes_sum(x, dtype)) return stock::cumsum_(x, dim, dtype);
  if (x.is_contiguous() && dtype.value_or(x.scalar_type()) == x.scalar_type()) {
    cumsum_into(x, dim, x);
    return x;
  }
  return x.copy_(libtorch_invariant::cumsum(x, dim, dtype));
}

}  // namespace bic::libtorch_invariant
