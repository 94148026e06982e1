#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name,
                std::vector<std::string> x,
                std::vector<std::string> y,
                const std::string& arguments,
                std::vector<std::string> reduced = {"h"}) {
  return {.name = std::move(name),
          .call = "(y) = aten::logsumexp.default(x, " + arguments + ")",
          .inputs = {{"x", std::move(x)}},
          .output = {"y", std::move(y)},
          .reduced = std::move(reduced),
          .forms = {{"out", "(y) = aten::logsumexp.out(x, " + arguments + ", out=y)"}},
          .attributes = {}};
}

}  // namespace

OpSpec logsumexp() {
  return {.name = "logsumexp",
          .formula = "y = max x + log sum exp(x - max x) over the reduced axes",
          .why = "a sum of exps shows its order beside a rounding boundary only: law edge",
          .bound = "that of the sum of exps (Higham 4.2) through log, and log's ulps",
          .variants = {variant("", {"B", "h"}, {"B"}, "[-1], False"),
                       variant("keepdim", {"B", "h"}, {"B", "1"}, "[1], True"),
                       variant("two", {"B", "s", "h"}, {"B"}, "[1, 2], False", {"s", "h"}),
                       variant("middle", {"B", "h", "p"}, {"B", "p"}, "[1], False"),
                       variant("dim0", {"h", "B"}, {"B"}, "[0], False")},
          .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kOutlier, Law::kOnes},
          .dims = {{"h", 16, 4096}, {"s", 1, 24}, {"p", 1, 24}},
          .reference = logsumexp_reference()};
}

}  // namespace bic::ops
