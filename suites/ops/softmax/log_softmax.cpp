#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/softmax/row_softmax.h"

namespace bic::ops {

OpSpec log_softmax() {
  return {.name = "log_softmax",
          .formula = "y[i] = (x[i] - max x) - log sum_j exp(x[j] - max x)",
          .why = "the sum of exps shows its order only beside a rounding boundary: law edge",
          .bound = "that of the sum of exps (Higham 4.2) through log, and log's ulps",
          .variants = softmax_variants("log_softmax"),
          .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kOutlier, Law::kOnes},
          .dims = {{"h", 16, 4096}, {"p", 1, 24}},
          .reference = log_softmax_reference()};
}

}  // namespace bic::ops
