#pragma once

#include <cstdint>
#include <span>

#include "suites/ops/op_spec.h"

namespace bic::fake {

// Honest sums that no control adds up like: what they give is as right as the reference's.

/// The halves of the terms, each in the same way, down to eight.
void pairwise_sums(const OpSpec& op,
                   const Operands& operands,
                   DType output,
                   std::span<const std::int64_t> elements,
                   std::span<double> y);

/// In sequence, with what each addition loses added to the next term (Kahan, 1965). Of `mm`, and of
/// `sum` over whole samples. Throws HarnessError for another op.
void compensated_sums(const OpSpec& op,
                      const Operands& operands,
                      DType output,
                      std::span<const std::int64_t> elements,
                      std::span<double> y);

}  // namespace bic::fake
