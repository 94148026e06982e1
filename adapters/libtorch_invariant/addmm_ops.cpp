#include <ATen/ExpandUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>

#include <vector>

#include "adapters/libtorch_invariant/ops.h"
#include "adapters/libtorch_invariant/product.h"

#include BIC_STOCK(addmm)
#include BIC_STOCK(baddbmm)

namespace bic::libtorch_invariant {
namespace {

/// Matrices or stacks of them, all of one type, and something that expands to their product.
bool takes_sum(const at::Tensor& self, const at::Tensor& a, const at::Tensor& b, int rank) {
  if (!same_served_type(a, b) || !alike(self, a)) return false;
  if (a.dim() != rank || b.dim() != rank || a.size(-1) != b.size(-2)) return false;
  if (rank == 3 && a.size(0) != b.size(0)) return false;
  std::vector<std::int64_t> shape = a.sizes().vec();
  shape.back() = b.size(-1);
  return at::is_expandable_to(self.sizes(), shape);
}

/// y = beta self + alpha a b; with beta = 0 self is not read. y may be self itself.
void sum_into(const at::Tensor& self,
              const at::Tensor& a,
              const at::Tensor& b,
              const at::Scalar& beta,
              const at::Scalar& alpha,
              const at::Tensor& y) {
  const Addend addend{beta.equal(0) ? at::Tensor() : self, beta.toDouble(), alpha.toDouble()};
  multiply(a, b, addend, y);
}

at::Tensor sum_of(const at::Tensor& self,
                  const at::Tensor& a,
                  const at::Tensor& b,
                  const at::Scalar& beta,
                  const at::Scalar& alpha) {
  std::vector<std::int64_t> shape = a.sizes().vec();
  shape.back() = b.size(-1);
  at::Tensor y = at::empty(shape, a.options());
  sum_into(self, a, b, beta, alpha, y);
  return y;
}

at::Tensor& sum_out(const at::Tensor& self,
                    const at::Tensor& a,
                    const at::Tensor& b,
                    const at::Scalar& beta,
                    const at::Scalar& alpha,
                    at::Tensor& out) {
  std::vector<std::int64_t> shape = a.sizes().vec();
  shape.back() = b.size(-1);
  at::native::resize_output(out, shape);
  const bool other_self = out.is_alias_of(self) && !out.is_same(self);
  return write(out,
               out.is_alias_of(a) || out.is_alias_of(b) || other_self,
               [&](const at::Tensor& y) { sum_into(self, a, b, beta, alpha, y); });
}

}  // namespace

at::Tensor addmm(const at::Tensor& self,
                 const at::Tensor& a,
                 const at::Tensor& b,
                 const at::Scalar& beta,
                 const at::Scalar& alpha) {
  if (!takes_sum(self, a, b, 2)) return stock::addmm(self, a, b, beta, alpha);
  return sum_of(self, a, b, beta, alpha);
}

at::Tensor& addmm_out(const at::Tensor& self,
                      const at::Tensor& a,
                      const at::Tensor& b,
                      const at::Scalar& beta,
                      const at::Scalar& alpha,
                      at::Tensor& out) {
  if (!takes_sum(self, a, b, 2) || !out_fits(a, out)) {
    return stock::addmm_out(out, self, a, b, beta, alpha);
  }
  return sum_out(self, a, b, beta, alpha, out);
}

at::Tensor& addmm_(at::Tensor& self,
                   const at::Tensor& a,
                   const at::Tensor& b,
                   const at::Scalar& beta,
                   const at::Scalar& alpha) {
  const bool fits = self.dim() == 2 && takes_sum(self, a, b, 2) && self.size(-2) == a.size(-2) &&
                    self.size(-1) == b.size(-1) && self.size(0) == a.size(0);
  if (!fits) return stock::addmm_(self, a, b, beta, alpha);
  return sum_out(self, a, b, beta, alpha, self);
}

at::Tensor baddbmm(const at::Tensor& self,
                   const at::Tensor& a,
                   const at::Tensor& b,
                   const at::Scalar& beta,
                   const at::Scalar& alpha) {
  if (!takes_sum(self, a, b, 3)) return stock::baddbmm(self, a, b, beta, alpha);
  return sum_of(self, a, b, beta, alpha);
}

at::Tensor& baddbmm_out(const at::Tensor& self,
                        const at::Tensor& a,
                        const at::Tensor& b,
                        const at::Scalar& beta,
                        const at::Scalar& alpha,
                        at::Tensor& out) {
  if (!takes_sum(self, a, b, 3) || !out_fits(a, out)) {
    return stock::baddbmm_out(out, self, a, b, beta, alpha);
  }
  return sum_out(self, a, b, beta, alpha, out);
}

at::Tensor& baddbmm_(at::Tensor& self,
                     const at::Tensor& a,
                     const at::Tensor& b,
                     const at::Scalar& beta,
                     const at::Scalar& alpha) {
  const bool fits = self.dim() == 3 && takes_sum(self, a, b, 3) && self.size(-2) == a.size(-2) &&
                    self.size(-1) == b.size(-1) && self.size(0) == a.size(0);
  if (!fits) return stock::baddbmm_(self, a, b, beta, alpha);
  return sum_out(self, a, b, beta, alpha, self);
}

}  // namespace bic::libtorch_invariant
