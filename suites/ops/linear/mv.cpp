#include "suites/ops/linear/products.h"

namespace bic::ops {

OpSpec mv() {
  return products("mv",
                  "y[i] = sum_k a[i,k] x[k] (BLAS gemv)",
                  "gemv walks rows or columns, by the strides, and splits either among threads",
                  kProductBound,
                  {{.name = "",
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
                  {{"k", 160, 4096}});
}

}  // namespace bic::ops
