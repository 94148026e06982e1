#include "suites/ops/chunks.h"
#include "suites/ops/linear/products.h"

namespace bic::ops {
namespace {

std::string chunks() {
  return in_chunks(
      {{"a", 1}}, 1, [](const std::string& part) { return "aten::bmm.default(a" + part + ", b)"; });
}

/// Attention has a matrix a head: `rows` matrices a sample.
Variant variant(std::string name, const std::string& rows) {
  return {.name = std::move(name),
          .call = "(y) = aten::bmm.default(a, b)",
          .inputs = {{"a", {rows, "m", "k"}}, {"b", {rows, "k", "n"}}},
          .output = {"y", {rows, "m", "n"}},
          .reduced = {"k"},
          .forms = {{"out", "(y) = aten::bmm.out(a, b, out=y)"}, {"chunk", chunks()}},
          .attributes = {}};
}

}  // namespace

OpSpec bmm() {
  return products("bmm",
                  "y[b,i,j] = sum_k a[b,i,k] b[b,k,j] (BLAS gemm_batch)",
                  "libraries loop over small matrices but split large ones, by the batch's size",
                  kProductBound,
                  {variant("", "B"), variant("heads", "8*B")},
                  {{"k", 16, 1024}, {"m", 1, 48}, {"n", 1, 256}});
}

}  // namespace bic::ops
