#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <hwy/base.h>

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "reference_kernels/cpu/parallel.h"

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

/// ATen's threads, one task at a time: which thread runs what never enters the bits.
inline void parallel(std::int64_t tasks,
                     const std::function<void(std::int64_t, std::int64_t)>& body) {
  at::parallel_for(0, tasks, 1, body);
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
