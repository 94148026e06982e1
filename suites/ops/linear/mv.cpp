#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {

OpSpec mv() {
  return {.name = "mv",
          .formula = "y[i] = sum_k a[i,k] x[k] (BLAS gemv)",
          .why = "gemv walks rows or columns, by the strides, and splits either among threads",
          .bound = "gamma_K sum |a b| for K terms in any order, fused or not (Higham 3.1)",
          .variants = {{.name = "",
                        .call = "(y) = aten::mv.default(a, x)",
                        .inputs = {{"a", {"B", "k"}}, {"x", {"k"}}},
                        .output = {"y", {"B"}},
                        .reduced = {"k"},
                        .forms = {{"out", "(y) = aten::mv.out(a, x, out=y)"}},
                        .attributes = {}},
                       {.name = "columns",
                        .call = "(t) = aten::t.default(a); (y) = aten::mv.default(t, x)",
                        .inputs = {{"a", {"k", "B"}}, {"x", {"k"}}},
                        .output = {"y", {"B"}},
                        .reduced = {"k"},
                        .forms = {},
                        .attributes = {}}},
          .laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .contraction = true,
          .dims = {{"k", 160, 4096}},
          .reference = matmul_reference()};
}

}  // namespace bic::ops
