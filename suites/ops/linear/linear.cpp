#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name,
                std::vector<std::string> x,
                std::vector<std::string> y,
                bool bias) {
  std::vector<TensorSpec> inputs{{"x", std::move(x)}, {"w", {"n", "k"}}};
  if (bias) inputs.push_back({"b", {"n"}});
  const std::string operands = bias ? "x, w, b" : "x, w, None";
  return {.name = std::move(name),
          .call = "(y) = aten::linear.default(" + operands + ")",
          .inputs = std::move(inputs),
          .output = {"y", std::move(y)},
          .reduced = {"k"},
          .forms = {{"out", "(y) = aten::linear.out(" + operands + ", out=y)"}},
          .attributes = {}};
}

}  // namespace

OpSpec linear() {
  return {.name = "linear",
          .formula = "y[..,j] = sum_k x[..,k] w[j,k] + b[j] (torch.nn.functional.linear)",
          .why = "rank, bias and layout reach mm, addmm or bmm, which round at different points",
          .bound =
              "gamma_K sum |a b| for K terms in any order, fused or not; K + 1 with a bias (Higham "
              "3.1)",
          .variants = {variant("", {"B", "k"}, {"B", "n"}, false),
                       variant("bias", {"B", "k"}, {"B", "n"}, true),
                       variant("r3", {"B", "t", "k"}, {"B", "t", "n"}, false),
                       variant("r3bias", {"B", "t", "k"}, {"B", "t", "n"}, true),
                       variant("r4bias", {"B", "s", "t", "k"}, {"B", "s", "t", "n"}, true),
                       variant("flat", {"t*B", "k"}, {"t*B", "n"}, true)},
          .laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .contraction = true,
          .dims = {{"k", 16, 1024}, {"n", 1, 256}, {"t", 1, 12}, {"s", 1, 4}},
          .reference = linear_reference()};
}

}  // namespace bic::ops
