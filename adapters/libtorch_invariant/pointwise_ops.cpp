#include <ATen/ExpandUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "adapters/libtorch_invariant/binding.h"
#include "adapters/libtorch_invariant/ops.h"
#include "reference_kernels/cpu/pointwise.h"

#include BIC_KERNELS(pointwise)
#include BIC_STOCK(add)
#include BIC_STOCK(cos)
#include BIC_STOCK(exp)
#include BIC_STOCK(log)
#include BIC_STOCK(pow)
#include BIC_STOCK(rsqrt)
#include BIC_STOCK(sigmoid)
#include BIC_STOCK(silu)
#include BIC_STOCK(sin)
#include BIC_STOCK(tanh)

namespace bic::libtorch_invariant {
namespace {

using cpu::PointwiseFunction;

/// A function in its three forms; kStock serves the other dtypes.
template <PointwiseFunction kFunction, auto kStock, auto kStockOut>
struct Unary {
  static at::Tensor functional(const at::Tensor& x) {
    if (!served(x.scalar_type())) return kStock(x);
    const at::Tensor dense = x.is_non_overlapping_and_dense() ? x : x.contiguous();
    at::Tensor y = at::empty_like(dense);
    dense_to(dense, y);
    return y;
  }

  static at::Tensor& out(const at::Tensor& x, at::Tensor& y) {
    if (!served(x.scalar_type()) || !alike(y, x)) return kStockOut(x, y);
    at::native::resize_output(y, x.sizes());
    const at::Tensor dense = x.contiguous();
    return write(y, y.is_alias_of(dense), [&](const at::Tensor& to) { dense_to(dense, to); });
  }

  static at::Tensor& inplace(at::Tensor& x) {
    if (!served(x.scalar_type())) return kStockOut(x, x);
    if (!x.is_non_overlapping_and_dense()) return x.copy_(functional(x));
    dense_to(x, x);
    return x;
  }

 private:
  /// The elements of `x` in the order of its memory, which has no gaps, to the same places of `y`.
  static void dense_to(const at::Tensor& x, const at::Tensor& y) {
    with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
      kernels::pointwise(cpu::PointwiseArgs<T>{input<T>(x), output<T>(y), x.numel(), kFunction},
                         launch_for(y));
    });
  }
};

template <class Op>
void register_unary(torch::Library& library, const std::string& name) {
  library.impl(name.c_str(), TORCH_FN(Op::functional));
  library.impl((name + ".out").c_str(), TORCH_FN(Op::out));
  library.impl((name + "_").c_str(), TORCH_FN(Op::inplace));
}

bool takes_exponent(const at::Tensor& x, const at::Scalar& e) {
  return served(x.scalar_type()) && (e.isFloatingPoint() || e.isIntegral(false));
}

/// Both without gaps and alike in memory.
void power_dense(const at::Tensor& x, const at::Scalar& e, const at::Tensor& y) {
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    // As in ATen, the exponent is one of the type of the arithmetic.
    const double exponent = std::is_same_v<T, double> ? e.toDouble() : double{e.toFloat()};
    kernels::power(cpu::PowerArgs<T>{input<T>(x), nullptr, exponent, output<T>(y), x.numel()},
                   launch_for(y));
  });
}

at::Tensor pow_scalar(const at::Tensor& x, const at::Scalar& e) {
  if (!takes_exponent(x, e)) return stock::pow(x, e);
  const at::Tensor dense = x.is_non_overlapping_and_dense() ? x : x.contiguous();
  at::Tensor y = at::empty_like(dense);
  power_dense(dense, e, y);
  return y;
}

at::Tensor& pow_scalar_out(const at::Tensor& x, const at::Scalar& e, at::Tensor& y) {
  if (!takes_exponent(x, e) || !alike(y, x)) {
    return stock::pow_outf(x, e, y);
  }
  at::native::resize_output(y, x.sizes());
  const at::Tensor dense = x.contiguous();
  return write(y, y.is_alias_of(dense), [&](const at::Tensor& to) { power_dense(dense, e, to); });
}

at::Tensor& pow_scalar_(at::Tensor& x, const at::Scalar& e) {
  if (!takes_exponent(x, e)) return stock::pow_(x, e);
  if (!x.is_non_overlapping_and_dense()) return x.copy_(pow_scalar(x, e));
  power_dense(x, e, x);
  return x;
}

bool same_served(const at::Tensor& x, const at::Tensor& e) {
  return served(x.scalar_type()) && alike(e, x);
}

/// x and e broadcast to the row-major y.
void power_each(const at::Tensor& x, const at::Tensor& e, const at::Tensor& y) {
  const at::Tensor base = x.expand(y.sizes()).contiguous(),
                   exponents = e.expand(y.sizes()).contiguous();
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    kernels::power(
        cpu::PowerArgs<T>{input<T>(base), input<T>(exponents), 0, output<T>(y), y.numel()},
        launch_for(y));
  });
}

at::Tensor pow_tensor(const at::Tensor& x, const at::Tensor& e) {
  if (!same_served(x, e)) return stock::pow(x, e);
  at::Tensor y = at::empty(at::infer_size(x.sizes(), e.sizes()), x.options());
  power_each(x, e, y);
  return y;
}

at::Tensor& pow_tensor_out(const at::Tensor& x, const at::Tensor& e, at::Tensor& y) {
  if (!same_served(x, e) || !alike(y, x)) {
    return stock::pow_outf(x, e, y);
  }
  at::native::resize_output(y, at::infer_size(x.sizes(), e.sizes()));
  return write(
      y, y.is_alias_of(x) || y.is_alias_of(e), [&](const at::Tensor& to) { power_each(x, e, to); });
}

at::Tensor& pow_tensor_(at::Tensor& x, const at::Tensor& e) {
  if (!same_served(x, e)) return stock::pow_(x, e);
  return x.copy_(pow_tensor(x, e));
}

/// With alpha = 1 stock's sum is one exact rounding.
bool takes_sum(const at::Tensor& x, const at::Tensor& o, const at::Scalar& alpha) {
  return same_served(x, o) && (alpha.isFloatingPoint() || alpha.isIntegral(false)) &&
         alpha.toDouble() != 1;
}

/// x and o broadcast to the row-major y.
void sum_each(const at::Tensor& x,
              const at::Tensor& o,
              const at::Scalar& alpha,
              const at::Tensor& y) {
  const at::Tensor first = x.expand(y.sizes()).contiguous(),
                   other = o.expand(y.sizes()).contiguous();
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    kernels::scaled_sum(
        cpu::ScaledSumArgs<T>{
            input<T>(first), input<T>(other), alpha.toDouble(), output<T>(y), y.numel()},
        launch_for(y));
  });
}

at::Tensor add_tensor(const at::Tensor& x, const at::Tensor& o, const at::Scalar& alpha) {
  if (!takes_sum(x, o, alpha)) return stock::add(x, o, alpha);
  at::Tensor y = at::empty(at::infer_size(x.sizes(), o.sizes()), x.options());
  sum_each(x, o, alpha, y);
  return y;
}

at::Tensor& add_tensor_out(const at::Tensor& x,
                           const at::Tensor& o,
                           const at::Scalar& alpha,
                           at::Tensor& y) {
  if (!takes_sum(x, o, alpha) || !alike(y, x)) {
    return stock::add_outf(x, o, alpha, y);
  }
  at::native::resize_output(y, at::infer_size(x.sizes(), o.sizes()));
  return write(y, y.is_alias_of(x) || y.is_alias_of(o), [&](const at::Tensor& to) {
    sum_each(x, o, alpha, to);
  });
}

at::Tensor& add_tensor_(at::Tensor& x, const at::Tensor& o, const at::Scalar& alpha) {
  if (!takes_sum(x, o, alpha)) return stock::add_(x, o, alpha);
  return x.copy_(add_tensor(x, o, alpha));
}

using Silu = Unary<PointwiseFunction::kSilu, stock::silu, stock::silu_outf>;
using Sigmoid = Unary<PointwiseFunction::kSigmoid, stock::sigmoid, stock::sigmoid_outf>;
using Tanh = Unary<PointwiseFunction::kTanh, stock::tanh, stock::tanh_outf>;
using Exp = Unary<PointwiseFunction::kExp, stock::exp, stock::exp_outf>;
using Log = Unary<PointwiseFunction::kLog, stock::log, stock::log_outf>;
using Rsqrt = Unary<PointwiseFunction::kRsqrt, stock::rsqrt, stock::rsqrt_outf>;
using Sin = Unary<PointwiseFunction::kSin, stock::sin, stock::sin_outf>;
using Cos = Unary<PointwiseFunction::kCos, stock::cos, stock::cos_outf>;

}  // namespace

void register_pointwise(torch::Library& library) {
  register_unary<Silu>(library, "silu");
  register_unary<Sigmoid>(library, "sigmoid");
  register_unary<Tanh>(library, "tanh");
  register_unary<Exp>(library, "exp");
  register_unary<Log>(library, "log");
  register_unary<Rsqrt>(library, "rsqrt");
  register_unary<Sin>(library, "sin");
  register_unary<Cos>(library, "cos");
  library.impl("pow.Tensor_Scalar", TORCH_FN(pow_scalar));
  library.impl("pow.Tensor_Scalar_out", TORCH_FN(pow_scalar_out));
  library.impl("pow_.Scalar", TORCH_FN(pow_scalar_));
  library.impl("pow.Tensor_Tensor", TORCH_FN(pow_tensor));
  library.impl("pow.Tensor_Tensor_out", TORCH_FN(pow_tensor_out));
  library.impl("pow_.Tensor", TORCH_FN(pow_tensor_));
  library.impl("add.Tensor", TORCH_FN(add_tensor));
  library.impl("add.out", TORCH_FN(add_tensor_out));
  library.impl("add_.Tensor", TORCH_FN(add_tensor_));
}

}  // namespace bic::libtorch_invariant
