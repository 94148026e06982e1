#include "suites/ops/linear/products.h"

namespace bic::ops {
namespace {

/// A row as a vector, for relation `rank`.
constexpr auto kVector =
    "(v) = aten::squeeze.dim(a, 0); (z) = aten::matmul.default(v, b);"
    "(y) = aten::unsqueeze.default(z, 0)";

Variant variant(std::string name, Axes a, Axes b, Axes y) {
  Variant v{.name = std::move(name),
            .call = "(y) = aten::matmul.default(a, b)",
            .inputs = {{"a", std::move(a)}, {"b", std::move(b)}},
            .output = {"y", std::move(y)},
            .reduced = {"k"},
            .forms = {{"out", "(y) = aten::matmul.out(a, b, out=y)"}},
            .attributes = {}};
  if (v.inputs[0].axes == Axes{"B", "k"}) v.forms["vector"] = kVector;
  return v;
}

}  // namespace

OpSpec matmul() {
  return products(
      "matmul",
      "y[..,i,j] = sum_k a[..,i,k] b[..,k,j], leading axes broadcast (numpy.matmul)",
      "rank and strides choose between dot, mv, mm and bmm, folded or copied",
      kProductBound,
      {variant("", {"B", "k"}, {"k", "n"}, {"B", "n"}),
       variant("r3r2", {"B", "m", "k"}, {"k", "n"}, {"B", "m", "n"}),
       variant("r4r4", {"B", "s", "m", "k"}, {"B", "s", "k", "n"}, {"B", "s", "m", "n"}),
       variant("r2r1", {"B", "k"}, {"k"}, {"B"}),
       variant("r1r3", {"k"}, {"B", "k", "n"}, {"B", "n"}),
       variant("shared", {"B", "s", "m", "k"}, {"B", "1", "k", "n"}, {"B", "s", "m", "n"}),
       variant("r3r3", {"B", "m", "k"}, {"B", "k", "n"}, {"B", "m", "n"}),
       variant("r5r3", {"B", "2", "s", "m", "k"}, {"s", "k", "n"}, {"B", "2", "s", "m", "n"}),
       variant("r2r3", {"m", "k"}, {"B", "k", "n"}, {"B", "m", "n"}),
       variant("r3r1", {"B", "m", "k"}, {"k"}, {"B", "m"}),
       variant("r1r2", {"k"}, {"k", "B"}, {"B"})},
      {{"k", 64, 1024}, {"m", 1, 48}, {"n", 1, 256}, {"s", 1, 6}});
}

}  // namespace bic::ops
