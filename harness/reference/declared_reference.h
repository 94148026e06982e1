#pragma once

#include <memory>

#include "harness/plan/op_spec_file.h"
#include "harness/reference/stock_evaluator.h"

namespace bic {

/// The reference of a declared op, of whose tensors `spec` tells, by stock ATen on one sample:
/// the oracle is its reference call in fp64. A control is that call in the reference arithmetic
/// (fp32, fp64 for outputs in fp64), each reduced axis permuted before and put back after: a sum in
/// another order, of an op that does not care in which order its terms stand.
/// So what the controls show depends on stock's own sums, and with it on torch's version and CPU.
std::shared_ptr<const Reference> declared_reference(const OpSpecFile& spec,
                                                    std::shared_ptr<StockEvaluator> stock);

}  // namespace bic
