#include "reference_kernels/oracle/oracle_case.h"

namespace bic::testing_support {

std::vector<OracleCase> oracle_cases() {
  std::vector<OracleCase> all;
  for (auto* family : {attention_cases,
                       contraction_cases,
                       norm_cases,
                       pointwise_cases,
                       product_cases,
                       reduction_cases}) {
    for (const OracleCase& c : family()) all.push_back(c);
  }
  return all;
}

}  // namespace bic::testing_support
