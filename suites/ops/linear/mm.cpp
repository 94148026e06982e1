#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {

OpSpec mm() {
  return {
      .name = "mm",
      .formula = "y[i,j] = sum_k x[i,k] w[k,j] (BLAS gemm)",
      .why = "paired terms that cancel leave small ones, whose sum shows tiles and split K",
      .bound =
          "gamma_K sum |a b| for K terms in any order, fused or not; K + 1 with a bias (Higham "
          "3.1)",
      .variants = {{
          .name = "",
          .call = "(y) = aten::mm.default(x, w)",
          .inputs = {{"x", {"B", "k"}}, {"w", {"k", "n"}}},
          .output = {"y", {"B", "n"}},
          .reduced = {"k"},
          .forms = {{"out", "(y) = aten::mm.out(x, w, out=y)"}},
          .attributes = {},
      }},
      .laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal},
      .accuracy_laws = {Law::kRamp,
                        Law::kIntegers,
                        Law::kOnes,
                        Law::kNormal,
                        Law::kUniform,
                        Law::kLinspace,
                        Law::kCancel},
      .contraction = true,
      .dims = {{"k", 16, 1024}, {"n", 1, 256}},
      .reference = matmul_reference(),
  };
}

}  // namespace bic::ops
