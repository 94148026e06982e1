#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {

OpSpec dot() {
  return {.name = "dot",
          .formula = "y = sum_k a[k] b[k] (BLAS dot)",
          .why = "one long sum: alignment, strides and threads may split it",
          .bound = "gamma_K sum |a b| for K terms in any order, fused or not (Higham 3.1)",
          .variants = {{.name = "",
                        .call = "(y) = aten::dot.default(a, b)",
                        .inputs = {{"a", {"k"}}, {"b", {"k"}}},
                        .output = {"y", {}},
                        .reduced = {"k"},
                        .forms = {},
                        .attributes = {}}},
          .laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .contraction = true,
          .dims = {{"k", 16, 1000}},
          .reference = matmul_reference()};
}

}  // namespace bic::ops
