#include "suites/ops/linear/products.h"

namespace bic::ops {
namespace {

/// `rows` matrices a sample.
Variant variant(std::string name, const std::string& rows, Axes c, bool scaled) {
  const auto [arguments, values] = factors(scaled);
  Variant v{.name = std::move(name),
            .call = "(y) = aten::baddbmm.default(c, a, b" + arguments + ")",
            .inputs = {{"a", {rows, "m", "k"}}, {"b", {rows, "k", "n"}}, {"c", c}},
            .output = {"y", {rows, "m", "n"}},
            .reduced = {"k"},
            .forms = {{"out", "(y) = aten::baddbmm.out(c, a, b" + arguments + ", out=y)"}},
            .attributes = values};
  if (c.front() == rows) {
    v.forms["inplace"] = "(y) = aten::baddbmm_.default(c, a, b" + arguments + ")";
  }
  return v;
}

}  // namespace

OpSpec baddbmm() {
  return products("baddbmm",
                  "y[b,i,j] = beta c[b,i,j] + alpha sum_k a[b,i,k] b[b,k,j] (torch.baddbmm)",
                  "a mask that is added to scores: small products take loops, large ones a library",
                  kSumBound,
                  {variant("", "B", {"B", "m", "n"}, false),
                   variant("scaled", "4*B", {"4*B", "m", "n"}, true),
                   variant("mask", "B", {"m", "n"}, false),
                   variant("bias", "4*B", {"n"}, true)},
                  {{"k", 64, 1024}, {"m", 1, 48}, {"n", 1, 256}});
}

}  // namespace bic::ops
