#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <hwy/base.h>

#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "adapters/libtorch_invariant/kernels.h"

namespace bic::libtorch_invariant {

/// The kernels' types: float, double, bf16 and half.
inline bool served(at::ScalarType type) {
  return type == at::kFloat || type == at::kDouble || type == at::kBFloat16 || type == at::kHalf;
}

/// Calls `body` with the kernels' type for an ATen type that is served.
template <class Body>
void with_type(at::ScalarType type, Body body) {
  if (type == at::kFloat) return body(std::type_identity<float>{});
  if (type == at::kDouble) return body(std::type_identity<double>{});
  if (type == at::kBFloat16) return body(std::type_identity<hwy::bfloat16_t>{});
  if (type == at::kHalf) return body(std::type_identity<hwy::float16_t>{});
  throw std::logic_error("with_type: not served");
}

template <class T>
const T* input(const at::Tensor& t) {
  return static_cast<const T*>(t.const_data_ptr());
}

template <class T>
T* output(const at::Tensor& t) {
  return static_cast<T*>(t.mutable_data_ptr());
}

/// Of one type, on one device.
inline bool alike(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.device() == b.device();
}

/// Whether `out` has the type in which the result for `x` is asked for, on its device.
inline bool takes_out(const at::Tensor& x,
                      std::optional<at::ScalarType> dtype,
                      const at::Tensor& out) {
  return out.scalar_type() == dtype.value_or(x.scalar_type()) && out.device() == x.device();
}

/// `out` resized as ATen does it, then written by `fill(y)`, where y is `out` itself if it is
/// row-major and no input's memory, else a fresh tensor that is copied to it.
template <class Fill>
at::Tensor& write(at::Tensor& out, bool shares_memory, Fill fill) {
  if (out.is_contiguous() && !shares_memory) {
    fill(out);
  } else {
    at::Tensor y = at::empty(out.sizes(), out.options());
    fill(y);
    out.copy_(y);
  }
  return out;
}

}  // namespace bic::libtorch_invariant
