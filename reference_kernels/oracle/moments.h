#pragma once

#include "reference_kernels/oracle/error_analysis.h"
#include "reference_kernels/oracle/terms.h"

namespace bic {

/// Mean and variance of a row in an implementation. The variance divides by the number of terms.
struct RowMoments {
  Approx mean;
  Approx variance;
};

/// Two passes, their sums in any order; or `welford`: updated element by element or by parts.
RowMoments moments_of(const ErrorAnalysis& analysis, const Terms& x, bool welford);

}  // namespace bic
