#include "suites/ops/linear/products.h"

namespace bic::ops {
namespace {

Variant variant(std::string name, Axes c, bool scaled) {
  const auto [arguments, values] = factors(scaled);
  Variant v{.name = std::move(name),
            .call = "(y) = aten::addmm.default(c, x, w" + arguments + ")",
            .inputs = {{"x", {"B", "k"}}, {"w", {"k", "n"}}, {"c", c}},
            .output = {"y", {"B", "n"}},
            .reduced = {"k"},
            .forms = {{"out", "(y) = aten::addmm.out(c, x, w" + arguments + ", out=y)"}},
            .attributes = values};
  if (c.front() == "B") {
    v.forms["inplace"] = "(y) = aten::addmm_.default(c, x, w" + arguments + ")";
  }
  return v;
}

}  // namespace

OpSpec addmm() {
  return products(
      "addmm",
      "y[i,j] = beta c[i,j] + alpha sum_k x[i,k] w[k,j] (BLAS gemm)",
      "a bias of one row goes into the product, a matrix or factors may be added after it",
      kSumBound,
      {variant("", {"n"}, false),
       variant("scaled", {"B", "n"}, true),
       variant("matrix", {"B", "n"}, false),
       variant("scaledbias", {"n"}, true)},
      {{"k", 64, 1024}, {"n", 1, 256}});
}

}  // namespace bic::ops
