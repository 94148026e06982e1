#include "harness/plan/ahead.h"

namespace bic {

std::unique_ptr<Prepared> Ahead::next() {
  constexpr std::size_t kAhead = 2;
  while (pending_.size() < kAhead && started_ < plans_.size()) {
    const ProblemPlan& plan = plans_[started_++];
    pending_.push_back(std::async(std::launch::async,
                                  [this, &plan] { return prepare(plan, selection_, run_seed_); }));
  }
  auto first = std::move(pending_.front());
  pending_.pop_front();
  return first.get();
}

void Ahead::settle() {
  for (const auto& p : pending_) p.wait();
}

}  // namespace bic
