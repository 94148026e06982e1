#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

/// `rows` matrices a sample; `scaled` by factors that only fp32 holds.
Variant variant(std::string name,
                const std::string& rows,
                std::vector<std::string> c,
                bool scaled) {
  const std::string factors = scaled ? ", beta=beta, alpha=alpha" : "";
  std::map<std::string, std::string> forms{
      {"out", "(y) = aten::baddbmm.out(c, a, b" + factors + ", out=y)"}};
  if (c.front() == rows) {
    forms["inplace"] = "(y) = aten::baddbmm_.default(c, a, b" + factors + ")";
  }
  return {.name = std::move(name),
          .call = "(y) = aten::baddbmm.default(c, a, b" + factors + ")",
          .inputs = {{"a", {rows, "m", "k"}}, {"b", {rows, "k", "n"}}, {"c", std::move(c)}},
          .output = {"y", {rows, "m", "n"}},
          .reduced = {"k"},
          .forms = std::move(forms),
          .attributes = scaled ? Attributes{{"alpha", "0x1.99999ap-1"}, {"beta", "-0x1.4cccccp+0"}}
                               : Attributes{}};
}

}  // namespace

OpSpec baddbmm() {
  return {.name = "baddbmm",
          .formula = "y[b,i,j] = beta c[b,i,j] + alpha sum_k a[b,i,k] b[b,k,j] (torch.baddbmm)",
          .why = "a mask that is added to scores: small products take loops, large ones a library",
          .bound = "gamma_(K+2) (|alpha| sum |a b| + |beta c|), K + 1 without factors (Higham 3.1)",
          .variants = {variant("", "B", {"B", "m", "n"}, false),
                       variant("scaled", "4*B", {"4*B", "m", "n"}, true),
                       variant("mask", "B", {"m", "n"}, false),
                       variant("bias", "4*B", {"n"}, true)},
          .laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .contraction = true,
          .dims = {{"k", 64, 1024}, {"m", 1, 48}, {"n", 1, 256}},
          .reference = matmul_reference()};
}

}  // namespace bic::ops
