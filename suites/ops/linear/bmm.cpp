#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

/// Attention has a matrix a head: `rows` matrices a sample.
Variant variant(std::string name, const std::string& rows) {
  return {.name = std::move(name),
          .call = "(y) = aten::bmm.default(a, b)",
          .inputs = {{"a", {rows, "m", "k"}}, {"b", {rows, "k", "n"}}},
          .output = {"y", {rows, "m", "n"}},
          .reduced = {"k"},
          .forms = {{"out", "(y) = aten::bmm.out(a, b, out=y)"}},
          .attributes = {}};
}

}  // namespace

OpSpec bmm() {
  return {.name = "bmm",
          .formula = "y[b,i,j] = sum_k a[b,i,k] b[b,k,j] (BLAS gemm_batch)",
          .why = "libraries loop over small matrices but split large ones, by the batch's size",
          .bound =
              "gamma_K sum |a b| for K terms in any order, fused or not; K + 1 with a bias (Higham "
              "3.1)",
          .variants = {variant("", "B"), variant("heads", "8*B")},
          .laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .contraction = true,
          .dims = {{"k", 16, 1024}, {"m", 1, 48}, {"n", 1, 256}},
          .reference = matmul_reference()};
}

}  // namespace bic::ops
