#include <ATen/ExpandUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear_native.h>
#include <ATen/ops/matmul_native.h>
#include <ATen/ops/mv_native.h>

#include <vector>

#include "adapters/libtorch_invariant/ops.h"
#include "adapters/libtorch_invariant/product.h"

#include BIC_STOCK(bmm)
#include BIC_STOCK(dot)
#include BIC_STOCK(mm)

namespace bic::libtorch_invariant {
namespace {

using Shape = std::vector<std::int64_t>;

bool takes_mm(const at::Tensor& a, const at::Tensor& b) {
  return same_served_type(a, b) && a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0);
}

bool takes_bmm(const at::Tensor& a, const at::Tensor& b) {
  return same_served_type(a, b) && a.dim() == 3 && b.dim() == 3 && a.size(0) == b.size(0) &&
         a.size(2) == b.size(1);
}

bool takes_linear(const at::Tensor& x, const at::Tensor& w, const std::optional<at::Tensor>& bias) {
  if (!same_served_type(x, w) || x.dim() < 1 || w.dim() != 2) return false;
  if (x.size(-1) != w.size(1)) return false;
  if (!bias || !bias->defined()) return true;
  return alike(*bias, x) && bias->dim() == 1 && bias->size(0) == w.size(0);
}

/// All axes but the last as one: a view where the strides allow it, else a copy.
at::Tensor as_rows(const at::Tensor& x) {
  std::int64_t rows = 1;
  for (std::int64_t i = 0; i + 1 < x.dim(); ++i) rows *= x.size(i);
  return x.reshape({rows, x.size(-1)});
}

void linear_into(const at::Tensor& x,
                 const at::Tensor& w,
                 const std::optional<at::Tensor>& bias,
                 at::Tensor y) {
  const at::Tensor rows = as_rows(x);
  multiply(rows, w.t(), {bias.value_or(at::Tensor())}, y.view({rows.size(0), w.size(0)}));
}

Shape linear_shape(const at::Tensor& x, const at::Tensor& w) {
  Shape shape = x.sizes().vec();
  shape.back() = w.size(0);
  return shape;
}

/// A matmul of any ranks as one batched product.
struct Product {
  at::Tensor a, b;  ///< [batch, m, k], [batch, k, n]
  Shape shape;      ///< of the result
};

/// Batch axes broadcast and flattened to one: a view (stride 0) where the strides allow it.
at::Tensor as_batches(const at::Tensor& t, const Shape& batch, std::int64_t batches) {
  Shape shape = batch;
  shape.push_back(t.size(-2));
  shape.push_back(t.size(-1));
  return t.expand(shape).reshape({batches, t.size(-2), t.size(-1)});
}

Product as_product(const at::Tensor& left, const at::Tensor& right) {
  const at::Tensor a = left.dim() == 1 ? left.unsqueeze(0) : left;
  const at::Tensor b = right.dim() == 1 ? right.unsqueeze(1) : right;
  Product product;
  if (b.dim() == 2) {
    product.a = as_rows(a).unsqueeze(0);
    product.b = b.unsqueeze(0);
    product.shape.assign(a.sizes().begin(), a.sizes().end() - 1);
  } else {
    const auto batch =
        at::infer_size(a.sizes().slice(0, a.dim() - 2), b.sizes().slice(0, b.dim() - 2));
    std::int64_t batches = 1;
    for (std::int64_t extent : batch) batches *= extent;
    product.a = as_batches(a, batch, batches);
    product.b = as_batches(b, batch, batches);
    product.shape = batch;
    product.shape.push_back(a.size(-2));
  }
  if (left.dim() == 1) product.shape.pop_back();
  if (right.dim() > 1) product.shape.push_back(b.size(-1));
  return product;
}

bool takes_matmul(const at::Tensor& a, const at::Tensor& b) {
  if (!same_served_type(a, b) || a.dim() == 0 || b.dim() == 0) return false;
  if (a.size(-1) != b.size(b.dim() == 1 ? 0 : -2)) return false;
  if (a.dim() <= 2 || b.dim() <= 2) return true;
  return at::are_expandable(a.sizes().slice(0, a.dim() - 2), b.sizes().slice(0, b.dim() - 2));
}

void product_into(const Product& p, at::Tensor y) {
  multiply(p.a, p.b, {}, y.view({p.a.size(0), p.a.size(1), p.b.size(2)}));
}

/// Of matrices, or of stacks of as many: no view has to be made first.
at::Tensor product_of(const at::Tensor& a, const at::Tensor& b) {
  Shape shape = a.sizes().vec();
  shape.back() = b.size(-1);
  at::Tensor y = at::empty(shape, a.options());
  multiply(a, b, {}, y);
  return y;
}

bool shares(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  return out.is_alias_of(a) || out.is_alias_of(b);
}

}  // namespace

at::Tensor mm(const at::Tensor& a, const at::Tensor& b) {
  if (!takes_mm(a, b)) return stock::mm(a, b);
  return product_of(a, b);
}

at::Tensor& mm_out(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  if (!takes_mm(a, b) || !out_fits(a, out)) return stock::mm_out(out, a, b);
  return libtorch_invariant::matmul_out(a, b, out);
}

at::Tensor bmm(const at::Tensor& a, const at::Tensor& b) {
  if (!takes_bmm(a, b)) return stock::bmm(a, b);
  return product_of(a, b);
}

at::Tensor& bmm_out(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  if (!takes_bmm(a, b) || !out_fits(a, out)) return stock::bmm_out(out, a, b);
  return libtorch_invariant::matmul_out(a, b, out);
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& w, const std::optional<at::Tensor>& bias) {
  if (!takes_linear(x, w, bias)) return at::native::linear(x, w, bias);
  at::Tensor y = at::empty(linear_shape(x, w), x.options());
  linear_into(x, w, bias, y);
  return y;
}

at::Tensor& linear_out(const at::Tensor& x,
                       const at::Tensor& w,
                       const std::optional<at::Tensor>& bias,
                       at::Tensor& out) {
  if (!takes_linear(x, w, bias) || !out_fits(x, out)) {
    return at::native::linear_out(x, w, bias, out);
  }
  at::native::resize_output(out, linear_shape(x, w));
  const bool aliased = shares(out, x, w) || (bias && bias->defined() && out.is_alias_of(*bias));
  return write(out, aliased, [&](const at::Tensor& y) { linear_into(x, w, bias, y); });
}

at::Tensor matmul(const at::Tensor& a, const at::Tensor& b) {
  if (!takes_matmul(a, b)) return at::native::matmul(a, b);
  if (b.dim() == 1 && a.dim() <= 2) {
    at::Tensor y = at::empty(a.sizes().slice(0, a.dim() - 1), a.options());
    multiply_vector(a, b, y);
    return y;
  }
  const Product product = as_product(a, b);
  at::Tensor y = at::empty(product.shape, a.options());
  product_into(product, y);
  return y;
}

at::Tensor& matmul_out(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  if (!takes_matmul(a, b) || !out_fits(a, out)) return at::native::matmul_out(a, b, out);
  const Product product = as_product(a, b);
  at::native::resize_output(out, product.shape);
  return write(out, shares(out, a, b), [&](const at::Tensor& y) { product_into(product, y); });
}

at::Tensor mv(const at::Tensor& a, const at::Tensor& x) {
  if (a.dim() != 2 || x.dim() != 1 || !takes_matmul(a, x)) return at::native::mv(a, x);
  return libtorch_invariant::matmul(a, x);
}

at::Tensor& mv_out(const at::Tensor& a, const at::Tensor& x, at::Tensor& out) {
  const bool fits = a.dim() == 2 && x.dim() == 1 && takes_matmul(a, x) && out_fits(a, out);
  if (!fits) return at::native::mv_out(a, x, out);
  return libtorch_invariant::matmul_out(a, x, out);
}

at::Tensor dot(const at::Tensor& a, const at::Tensor& b) {
  if (a.dim() != 1 || b.dim() != 1 || !takes_matmul(a, b)) return stock::dot(a, b);
  return libtorch_invariant::matmul(a, b);
}

}  // namespace bic::libtorch_invariant
