#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name, const std::vector<std::string>& axes, const std::string& dim) {
  return {.name = std::move(name),
          .call = "(y) = aten::log_softmax.int(x, " + dim + ", dtype=fp32)",
          .inputs = {{"x", axes}},
          .output = {"y", axes},
          .reduced = {"h"},
          .forms = {{"out", "(y) = aten::log_softmax.int_out(x, " + dim + ", dtype=fp32, out=y)"}},
          .attributes = {},
          .output_dtype = DType::kFloat32};
}

}  // namespace

/// An op of its own: in fp32 it is log_softmax, in fp64 nobody asks for it.
OpSpec log_softmax_fp32() {
  return {.name = "log_softmax_fp32",
          .formula = "log_softmax of 16-bit logits in fp32 (torch.log_softmax with a dtype)",
          .why = "log-probabilities of tokens: without a rounding to 16 bits every order shows",
          .bound = "that of the sum of exps (Higham 4.2) through log, and log's ulps",
          .variants = {variant("", {"B", "h"}, "-1"), variant("middle", {"B", "h", "p"}, "1")},
          .dtypes = {DType::kBFloat16, DType::kFloat16},
          .laws = {Law::kNormal, Law::kUniform, Law::kOutlier},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kOutlier, Law::kOnes},
          .dims = {{"h", 16, 4096}, {"p", 1, 24}},
          .reference = log_softmax_reference()};
}

}  // namespace bic::ops
