#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace bic::libtorch_invariant {

using Inputs = std::vector<at::Tensor>;

/// One op in its forms, on inputs of these shapes.
struct OpCase {
  const char* name;
  std::vector<std::vector<std::int64_t>> shapes;
  std::function<at::Tensor(Inputs&)> functional;
  std::function<at::Tensor&(at::Tensor& out, Inputs&)> out;  ///< null where the op has none
};

// One list a family, all judged by ops_test.cpp.
std::vector<OpCase> attention_op_cases();
std::vector<OpCase> norm_op_cases();
std::vector<OpCase> pointwise_op_cases();
std::vector<OpCase> reduction_op_cases();

}  // namespace bic::libtorch_invariant
