#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/plan/shapes.h"
#include "harness/run/perf.h"

namespace bic {

/// A call of an op, to be timed.
struct OpCall {
  const ShapeRow* shape = nullptr;
  const Variant* variant = nullptr;
  DType dtype = DType::kFloat32;
  std::int64_t batch = 1;
};

/// The rows' calls in each of the row's dtypes that is among `dtypes`, at each of `batches`, or at
/// the row's where that is empty.
std::vector<OpCall> op_calls(const std::vector<ShapeRow>& rows,
                             const std::vector<DType>& dtypes,
                             const std::vector<std::int64_t>& batches);

/// What stock reaches on the machine in the same run, in bytes and floating-point operations a
/// second; 0 where it was not measured. The roofline of a call is the longer of its bytes at the
/// one and its operations at the other (Williams et al. 2009, doi:10.1145/1498765.1498785).
struct Peaks {
  double bytes = 0;
  std::map<DType, double> operations;
};

/// Bytes by a sum of two large tensors, operations by a square product in each dtype.
Peaks measure_peaks(Stage& stock, const std::vector<DType>& dtypes);

/// How long a call takes, and stock's.
struct OpTime {
  report::Throughput speed;
  std::int64_t bytes = 0;       ///< of all inputs and of the output
  std::int64_t operations = 0;  ///< of products; else 0
};

/// Times a call on inputs that no cache holds, block by block, the two in turn, against the output
/// of one judged call before. Nothing where one of the two cannot run it: `why` says so.
std::optional<OpTime> time_call(Stage& backend, Stage& stock, const OpCall& call, std::string& why);

/// The share of the roofline that the backend reaches; 0 where no peak is known.
double share_of_roofline(const OpTime& time, DType dtype, const Peaks& peaks);

}  // namespace bic
