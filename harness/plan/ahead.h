#pragma once

#include <deque>
#include <future>
#include <memory>
#include <vector>

#include "harness/plan/prepare.h"

namespace bic {

/// Prepares problems some way ahead of the worker, in order, on threads of its own.
class Ahead {
 public:
  /// `plans` and `selection` must outlive it.
  Ahead(const std::vector<ProblemPlan>& plans, const Selection& selection, Seed run_seed)
      : plans_(plans), selection_(selection), run_seed_(run_seed) {}

  /// The next problem; at most `size()` times.
  std::unique_ptr<Prepared> next();

  /// Waits until nothing is being prepared.
  void settle();

  std::size_t size() const { return plans_.size(); }

 private:
  const std::vector<ProblemPlan>& plans_;
  const Selection& selection_;
  Seed run_seed_;
  std::size_t started_ = 0;
  std::deque<std::future<std::unique_ptr<Prepared>>> pending_;
};

}  // namespace bic
