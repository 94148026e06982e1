#pragma once

#include "adapters/libtorch_invariant/binding.h"

namespace bic::libtorch_invariant {

/// What is added to a product: beta times `bias`, which expands to the product's shape.
struct Addend {
  at::Tensor bias;
  double beta = 1, alpha = 1;
};

/// y[b,m,n] = a[b,m,k] w[b,k,n] (and the addend): all of rank 3, or without b of rank 2; y
/// row-major; expanded operands (stride 0) are taken as they are.
void multiply(const at::Tensor& a, const at::Tensor& w, const Addend& addend, at::Tensor y);

/// y = a x for a matrix, or for a vector a and a y of no axis; y is contiguous.
void multiply_vector(const at::Tensor& a, const at::Tensor& x, const at::Tensor& y);

inline bool same_served_type(const at::Tensor& a, const at::Tensor& b) {
  return served(a.scalar_type()) && alike(a, b);
}

inline bool out_fits(const at::Tensor& a, const at::Tensor& out) { return alike(out, a); }

}  // namespace bic::libtorch_invariant
