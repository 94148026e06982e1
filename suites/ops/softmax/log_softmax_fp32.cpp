#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/softmax/row_softmax.h"

namespace bic::ops {

/// An op of its own: in fp32 it is log_softmax, in fp64 nobody asks for it.
OpSpec log_softmax_fp32() {
  std::vector<Variant> variants = softmax_variants("log_softmax", ", dtype=fp32", DType::kFloat32);
  variants.pop_back();  // two layouts are enough here: log_softmax has the third
  return {.name = "log_softmax_fp32",
          .formula = "log_softmax of 16-bit logits in fp32 (torch.log_softmax with a dtype)",
          .why = "log-probabilities of tokens: without a rounding to 16 bits every order shows",
          .bound = "that of the sum of exps (Higham 4.2) through log, and log's ulps",
          .variants = std::move(variants),
          .dtypes = {DType::kBFloat16, DType::kFloat16},
          .laws = {Law::kNormal, Law::kUniform, Law::kOutlier},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kOutlier, Law::kOnes},
          .dims = {{"h", 16, 4096}, {"p", 1, 24}},
          .reference = log_softmax_reference()};
}

}  // namespace bic::ops
