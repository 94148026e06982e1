#include "suites/ops/linear/products.h"

namespace bic::ops {

OpSpec dot() {
  return products("dot",
                  "y = sum_k a[k] b[k] (BLAS dot)",
                  "one long sum: alignment, strides and threads may split it",
                  kProductBound,
                  {{.name = "",
                    .call = "(y) = aten::dot.default(a, b)",
                    .inputs = {{"a", {"k"}}, {"b", {"k"}}},
                    .output = {"y", {}},
                    .reduced = {"k"},
                    .forms = {},
                    .attributes = {}}},
                  {{"k", 16, 1000}});
}

}  // namespace bic::ops
