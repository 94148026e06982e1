#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name, const std::vector<std::string>& axes, const std::string& dim) {
  return {.name = std::move(name),
          .call = "(y) = aten::cumsum.default(x, " + dim + ")",
          .inputs = {{"x", axes}},
          .output = {"y", axes},
          .reduced = {"h"},
          .forms = {{"out", "(y) = aten::cumsum.out(x, " + dim + ", out=y)"},
                    {"inplace", "(y) = aten::cumsum_.default(x, " + dim + ")"}},
          .attributes = {}};
}

}  // namespace

OpSpec cumsum() {
  return {.name = "cumsum",
          .formula = "y[i] = x[0] + ... + x[i] along one axis (torch.cumsum)",
          .why = "a scan that is cut into parts adds what came before a part last",
          .bound = "gamma_(n-1) sum |x| over the n terms that an output has (Higham 4.2)",
          .variants = {variant("", {"B", "h"}, "-1"),
                       variant("r3", {"B", "t", "h"}, "-1"),
                       variant("middle", {"B", "h", "p"}, "1"),
                       variant("dim0", {"h", "B"}, "0")},
          .laws = {Law::kCancel, Law::kWide, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .dims = {{"h", 16, 4096}, {"t", 1, 12}, {"p", 1, 24}},
          .reference = cumsum_reference()};
}

}  // namespace bic::ops
