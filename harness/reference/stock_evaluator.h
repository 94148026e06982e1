#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "harness/workers/worker.h"
#include "suites/ops/op_spec.h"

namespace bic {

/// A call text over the tensors of a variant, with all values in one dtype.
struct StockCall {
  std::string op;    ///< for errors
  std::string what;  ///< key of the text in its file, for errors
  std::string text;
  DType dtype = DType::kFloat64;
  Dims dims;
  Attributes attributes;
  bool operator==(const StockCall&) const = default;
};

/// How calls are evaluated, and on whose behalf.
struct StockUse {
  std::string blame = "--op-spec";  ///< what a call that does not fit is the fault of
  int processes = 0;                ///< at most so many; 0: one a core, from 2 to 4
  int threads = 1;                  ///< of each
};

/// Evaluates calls on one sample with stock ATen, in processes of its own that start with the first
/// call. Safe to share by threads.
class StockEvaluator {
 public:
  explicit StockEvaluator(WorkerLaunch stock, StockUse use = {})
      : stock_(std::move(stock)), use_(std::move(use)) {}

  /// The output's elements, row-major. `inputs` are the sample's, by input; each fits the call's
  /// dtype. Throws UsageError when the call does not fit ATen, the tensors or the output's shape.
  std::vector<double> evaluate(const StockCall& call,
                               const Variant& variant,
                               std::span<const std::span<const double>> inputs);

  /// Ends the processes that nobody uses, and with them what they hold.
  void release();

 private:
  /// One process and the call that it has loaded.
  struct Seat {
    std::unique_ptr<Worker> worker;
    protocol::SharedMemory pool;
    protocol::ProblemMessage problem;
    StockCall loaded;
    bool taken = false;
  };
  class Taken;

  Seat& take(const StockCall& call);
  using Answer = std::variant<protocol::TrialReply, Death>;

  std::optional<Death> load(Seat& seat, const StockCall& call, const Variant& variant);
  Answer ask(Seat& seat,
             const StockCall& call,
             const Variant& variant,
             std::span<const std::span<const double>> inputs);
  std::vector<double> values_of(const Seat& seat,
                                const StockCall& call,
                                const protocol::TrialReply& reply) const;
  protocol::TrialMessage alone() const;
  [[noreturn]] void refuse(const StockCall& call, const std::string& what) const;

  WorkerLaunch stock_;
  StockUse use_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Seat>> seats_;
};

}  // namespace bic
