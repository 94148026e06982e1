#include "adapters/libtorch_invariant/product.h"

#include "reference_kernels/cpu/gemm.h"

#include BIC_KERNELS(gemm)

namespace bic::libtorch_invariant {

namespace {

/// From one matrix of a stack to the next.
std::int64_t stack_stride(const at::Tensor& t) { return t.dim() == 3 ? t.stride(0) : 0; }

}  // namespace

void multiply(const at::Tensor& a, const at::Tensor& w, const Addend& addend, at::Tensor y) {
  at::Tensor bias = addend.bias.defined() ? addend.bias.expand(y.sizes()) : at::Tensor();
  const bool strided = bias.defined() && y.size(-1) > 1 && bias.stride(-1) > 1;
  if (strided) bias = bias.contiguous();
  with_type(a.scalar_type(), [&]<class T>(std::type_identity<T>) {
    cpu::GemmArgs<T> args;
    args.a = input<T>(a);
    args.w = input<T>(w);
    args.y = output<T>(y);
    args.batch = y.dim() == 3 ? y.size(0) : 1;
    args.m = y.size(-2), args.n = y.size(-1), args.k = a.size(-1);
    args.a_batch = stack_stride(a), args.a_row = a.stride(-2), args.a_k = a.stride(-1);
    args.w_batch = stack_stride(w), args.w_k = w.stride(-2), args.w_n = w.stride(-1);
    args.y_batch = stack_stride(y), args.y_row = y.stride(-2);
    args.alpha = addend.alpha, args.beta = addend.beta;
    if (bias.defined()) {
      args.bias = input<T>(bias);
      args.bias_batch = stack_stride(bias), args.bias_row = bias.stride(-2);
      args.bias_n = y.size(-1) > 1 ? bias.stride(-1) : 0;
    }
    kernels::gemm<T>(args, launch_for(y));
  });
}

void multiply_vector(const at::Tensor& a, const at::Tensor& x, const at::Tensor& y) {
  with_type(a.scalar_type(), [&]<class T>(std::type_identity<T>) {
    cpu::GemmArgs<T> args{input<T>(a), input<T>(x), nullptr, output<T>(y)};
    args.m = y.numel(), args.n = 1, args.k = x.size(0);
    args.a_row = a.dim() == 2 ? a.stride(0) : 0, args.a_k = a.stride(-1);
    args.w_k = x.stride(0), args.y_row = 1;
    kernels::gemm<T>(args, launch_for(y));
  });
}

}  // namespace bic::libtorch_invariant
