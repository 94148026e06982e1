#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name, const std::vector<std::string>& axes, const std::string& dim) {
  return {.name = std::move(name),
          .call = "(y) = aten::log_softmax.int(x, " + dim + ")",
          .inputs = {{"x", axes}},
          .output = {"y", axes},
          .reduced = {"h"},
          .forms = {{"out", "(y) = aten::log_softmax.int_out(x, " + dim + ", out=y)"}},
          .attributes = {}};
}

}  // namespace

OpSpec log_softmax() {
  return {.name = "log_softmax",
          .formula = "y[i] = (x[i] - max x) - log sum_j exp(x[j] - max x)",
          .why = "the sum of exps shows its order only beside a rounding boundary: law edge",
          .bound = "that of the sum of exps (Higham 4.2) through log, and log's ulps",
          .variants = {variant("", {"B", "h"}, "-1"),
                       variant("middle", {"B", "h", "p"}, "1"),
                       variant("dim0", {"h", "B"}, "0")},
          .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kOutlier, Law::kOnes},
          .dims = {{"h", 16, 4096}, {"p", 1, 24}},
          .reference = log_softmax_reference()};
}

}  // namespace bic::ops
