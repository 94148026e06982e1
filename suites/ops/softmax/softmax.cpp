#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/softmax/row_softmax.h"

namespace bic::ops {

OpSpec softmax() {
  return {
      .name = "softmax",
      .formula = "y[i] = exp(x[i] - max x) / sum_j exp(x[j] - max x) (Bridle 1990)",
      .why = "the sum of exps shows its order only beside a rounding boundary: law edge",
      .bound =
          "the subtraction, exp's ulps, gamma_(n-1) of positive terms (Higham 4.2), the division",
      .variants = softmax_variants("softmax"),
      .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
      .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kOutlier, Law::kOnes},
      .dims = {{"h", 16, 4096}, {"p", 1, 24}},
      .reference = softmax_reference()};
}

}  // namespace bic::ops
