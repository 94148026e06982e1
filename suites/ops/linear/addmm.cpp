#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

/// `scaled` by factors that only fp32 holds: rounded to 16 bits they would show.
Variant variant(std::string name, std::vector<std::string> c, bool scaled) {
  const std::string factors = scaled ? ", beta=beta, alpha=alpha" : "";
  std::map<std::string, std::string> forms{
      {"out", "(y) = aten::addmm.out(c, x, w" + factors + ", out=y)"}};
  if (c.front() == "B") forms["inplace"] = "(y) = aten::addmm_.default(c, x, w" + factors + ")";
  return {.name = std::move(name),
          .call = "(y) = aten::addmm.default(c, x, w" + factors + ")",
          .inputs = {{"x", {"B", "k"}}, {"w", {"k", "n"}}, {"c", std::move(c)}},
          .output = {"y", {"B", "n"}},
          .reduced = {"k"},
          .forms = std::move(forms),
          .attributes = scaled ? Attributes{{"alpha", "0x1.99999ap-1"}, {"beta", "-0x1.4cccccp+0"}}
                               : Attributes{}};
}

}  // namespace

OpSpec addmm() {
  return {
      .name = "addmm",
      .formula = "y[i,j] = beta c[i,j] + alpha sum_k x[i,k] w[k,j] (BLAS gemm)",
      .why = "a bias of one row goes into the product, a matrix or factors may be added after it",
      .bound = "gamma_(K+2) (|alpha| sum |x w| + |beta c|), K + 1 without factors (Higham 3.1)",
      .variants = {variant("", {"n"}, false),
                   variant("scaled", {"B", "n"}, true),
                   variant("matrix", {"B", "n"}, false),
                   variant("scaledbias", {"n"}, true)},
      .laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal},
      .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
      .contraction = true,
      .dims = {{"k", 64, 1024}, {"n", 1, 256}},
      .reference = matmul_reference()};
}

}  // namespace bic::ops
