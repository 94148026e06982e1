#pragma once

#include <string>
#include <vector>

#include "harness/files/json_node.h"
#include "suites/ops/op_spec.h"

namespace bic {

/// Reads the tensors of a file of --op-spec, and texts over its dims. All that reads throws
/// UsageError that names the place.
class TensorReader {
 public:
  explicit TensorReader(const std::vector<DimRange>& dims);

  TensorSpec input(const JsonNode& at) const;
  /// Name and axes; its key `dtype` is the reader's to take.
  TensorSpec output(const JsonNode& at) const;

  /// An axis text that comes to at least 1 at both ends of the dims' ranges.
  std::string axis(const JsonNode& at) const;

 private:
  TensorSpec named(const JsonNode& at) const;

  Dims largest_, smallest_;
};

}  // namespace bic
