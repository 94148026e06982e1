#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>

#include "adapters/libtorch_invariant/binding.h"
#include "adapters/libtorch_invariant/ops.h"
#include "adapters/libtorch_invariant/reductions.h"

#include BIC_STOCK(sum)

namespace bic::libtorch_invariant {
at::Tensor sum(const at::Tensor& x, std::optional<at::ScalarType> dtype) {
  return sum_dim(x, std::nullopt, false, dtype);
}

at::Tensor sum_dim(const at::Tensor& x,
                   at::OptionalIntArrayRef dims,
                   bool keepdim,
                   std::optional<at::ScalarType> dtype) {
  if (!served(x.scalar_type()) || !served(dtype.value_or(x.scalar_type()))) {
    return stock::sum(x, dims, keepdim, dtype);
  }
  const auto summed = summed_axes(x, dims);
  const at::Tensor terms = summand(x, dtype);
  at::Tensor y = at::empty(sum_shape(x, summed, keepdim), terms.options());
  sum_into(terms, summed, {}, y);
  return y;
}

at::Tensor& sum_dim_out(const at::Tensor& x,
                        at::OptionalIntArrayRef dims,
                        bool keepdim,
                        std::optional<at::ScalarType> dtype,
                        at::Tensor& out) {
  if (!served(x.scalar_type()) || !takes_out(x, dtype, out) || !served(out.scalar_type())) {
    return stock::sum_outf(x, dims, keepdim, dtype, out);
  }
  const auto summed = summed_axes(x, dims);
  const at::Tensor terms = summand(x, dtype);
  at::native::resize_output(out, sum_shape(x, summed, keepdim));
  return write(
      out, out.is_alias_of(terms), [&](const at::Tensor& y) { sum_into(terms, summed, {}, y); });
}

}  // namespace bic::libtorch_invariant
