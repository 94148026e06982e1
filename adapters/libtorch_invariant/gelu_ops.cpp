#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "adapters/libtorch_invariant/binding.h"
#include "adapters/libtorch_invariant/ops.h"
#include "reference_kernels/cpu/gelu.h"

#include BIC_KERNELS(gelu)
#include BIC_STOCK(gelu)

namespace bic::libtorch_invariant {
namespace {

bool takes_gelu(const at::Tensor& x, std::string_view approximate) {
  return served(x.scalar_type()) && (approximate == "none" || approximate == "tanh");
}

/// The elements of `x` in the order of its memory, which has no gaps, to the same places of `y`.
void gelu_dense(const at::Tensor& x, std::string_view approximate, const at::Tensor& y) {
  const auto form = approximate == "tanh" ? cpu::GeluForm::kTanh : cpu::GeluForm::kErf;
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    kernels::gelu(cpu::GeluArgs<T>{input<T>(x), output<T>(y), x.numel(), form}, launch_for(y));
  });
}

}  // namespace

at::Tensor gelu(const at::Tensor& x, std::string_view approximate) {
  if (!takes_gelu(x, approximate)) return stock::gelu(x, approximate);
  const at::Tensor dense = x.is_non_overlapping_and_dense() ? x : x.contiguous();
  at::Tensor y = at::empty_like(dense);
  gelu_dense(dense, approximate, y);
  return y;
}

at::Tensor& gelu_out(const at::Tensor& x, std::string_view approximate, at::Tensor& out) {
  if (!takes_gelu(x, approximate) || !alike(out, x)) {
    return stock::gelu_outf(x, approximate, out);
  }
  at::native::resize_output(out, x.sizes());
  const at::Tensor dense = x.contiguous();
  return write(
      out, out.is_alias_of(dense), [&](const at::Tensor& y) { gelu_dense(dense, approximate, y); });
}

at::Tensor& gelu_(at::Tensor& x, std::string_view approximate) {
  if (!takes_gelu(x, approximate)) return stock::gelu_(x, approximate);
  if (x.is_non_overlapping_and_dense()) {
    gelu_dense(x, approximate, x);
    return x;
  }
  return x.copy_(libtorch_invariant::gelu(x, approximate));
}

}  // namespace bic::libtorch_invariant
