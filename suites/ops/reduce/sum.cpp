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
          .call = "(y) = aten::sum.dim_IntList(x, " + arguments + ")",
          .inputs = {{"x", std::move(x)}},
          .output = {"y", std::move(y)},
          .reduced = std::move(reduced),
          .forms = {{"out", "(y) = aten::sum.IntList_out(x, " + arguments + ", out=y)"}},
          .attributes = {}};
}

}  // namespace

OpSpec sum() {
  return {.name = "sum",
          .formula = "y = sum over the reduced axes of x (IEEE 754-2019, 9.4)",
          .why = "vectors run along the batch or the row, whichever is longer in memory",
          .bound = "gamma_(n-1) sum |x| for n terms in any order (Higham 4.2)",
          .variants = {variant("", {"B", "h"}, {"B"}, "[1], False"),
                       variant("keepdim", {"B", "h"}, {"B", "1"}, "[1], True"),
                       variant("two", {"B", "s", "h"}, {"B"}, "[1, 2], False", {"s", "h"}),
                       variant("middle", {"B", "h", "p"}, {"B", "p"}, "[1], False"),
                       variant("dim0", {"h", "B"}, {"B"}, "[0], False")},
          .laws = {Law::kCancel, Law::kWide, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .dims = {{"h", 16, 4096}, {"s", 1, 24}, {"p", 1, 24}},
          .reference = sum_reference()};
}

}  // namespace bic::ops
