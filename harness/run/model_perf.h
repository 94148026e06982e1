#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/trace/traced_model.h"

namespace bic {

/// How far an output is from the reference's, in the six numbers of the public posts. Of one
/// sample, so that mean and largest relative L2 are the same.
struct PostMetrics {
  double max_abs_diff = 0;
  double mean_abs_diff = 0;
  double rmse = 0;
  double relative_l2_mean = 0;
  double relative_l2_max = 0;
  double output_abs_max = 0;
};

/// Both have the same number of elements, at least one.
PostMetrics post_metrics(std::span<const double> reference, std::span<const double> output);

/// One forward pass: how long it took, and what the first request was given.
struct TimedPass {
  std::int64_t nanoseconds = 0;
  std::vector<std::byte> output;  ///< row-major
  std::vector<double> values;     ///< the same, widened
};

/// A model that a worker runs, pass by pass.
class TimedModel {
 public:
  TimedModel(AskStudy ask, ModelChoice choice, std::int64_t threads);

  /// Over requests by id; the first is the reference. Throws UsageError with what the worker says.
  TimedPass pass(const std::vector<std::int64_t>& requests) const;

 private:
  AskStudy ask_;
  ModelChoice choice_;
  std::int64_t threads_;
  protocol::SharedMemory room_;
};

/// Passes over a batch: its first request is the reference, the others are new in each of them.
struct BatchPasses {
  std::int64_t batch = 1;
  std::vector<TimedPass> backend;
  std::vector<TimedPass> stock;  ///< interleaved with the backend's; empty without one
};

/// The reference alone, and beside others in each of the batches.
struct ModelPerf {
  TimedPass reference;
  TimedPass stock_reference;  ///< empty without stock
  std::vector<BatchPasses> batches;
};

/// Each model first runs the reference once unmeasured: the weights are made in it, and the first
/// pass of a process pays for much that no other does. `stock` may be null.
ModelPerf time_model(const TimedModel& backend,
                     const TimedModel* stock,
                     const std::vector<std::int64_t>& batches,
                     std::int64_t trials);

/// The posts' object for one batch size, beside it under `bi_conform` the same in integers and the
/// ratio of stock's median time to the backend's.
nlohmann::json post_json(const ModelPerf& perf, const BatchPasses& passes);

}  // namespace bic
