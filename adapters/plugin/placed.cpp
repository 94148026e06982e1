#include "adapters/plugin/placed.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "adapters/plugin/library.h"
#include "adapters/protocol/guarded.h"

namespace bic::plugin {
namespace {

using protocol::kGuardBytes;
constexpr std::size_t kAlignment = 64;
static_assert(kGuardBytes % kAlignment == 0);

std::byte* allocate(std::size_t bytes) {
  const std::size_t all = bytes + 2 * kGuardBytes;
  void* const at = std::aligned_alloc(kAlignment, (all + kAlignment - 1) / kAlignment * kAlignment);
  if (at == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(at);
}

}  // namespace

Placed::Placed(const protocol::TensorMessage& t, protocol::TensorPlan plan)
    : name_(t.name),
      elements_(t.elements),
      plan_(std::move(plan)),
      memory_(nullptr, &std::free),
      bytes_(static_cast<std::size_t>(plan_.storage_elements * element_size())) {
  memory_.reset(allocate(bytes_));
  block_ = memory_.get() + kGuardBytes;
  protocol::poison_and_guard(block_, bytes_);
}

Placed Placed::input(const protocol::ProblemMessage& problem,
                     const protocol::TensorMessage& t,
                     const protocol::TrialMessage& trial,
                     std::span<const std::byte> pool) {
  Placed placed(t, protocol::plan_tensor(problem, t, trial));
  std::byte* const first = placed.block_ + placed.plan_.offset * placed.element_size();
  protocol::gather(problem, t, trial, pool, placed.plan_, first);
  return placed;
}

Placed Placed::output(const protocol::ProblemMessage& problem,
                      const protocol::TrialMessage& trial) {
  return {problem.output, protocol::plan_tensor(problem, problem.output, trial)};
}

bic_tensor Placed::view() {
  viewed_shape_ = plan_.shape;
  return {BIC_PLUGIN_STRUCT(bic_tensor),
          name_.c_str(),
          block_,
          BIC_CPU,
          0,
          static_cast<std::int32_t>(plan_.shape.size()),
          dtype_of(elements_),
          viewed_shape_.data(),
          plan_.strides.data(),
          static_cast<std::uint64_t>(plan_.offset * element_size())};
}

void Placed::remember() {
  if (before_.empty()) before_.assign(block().begin(), block().end());
}

bool Placed::changed() const { return std::memcmp(before_.data(), block_, bytes_) != 0; }

bool Placed::changed_between_elements() const {
  return protocol::changed_between_elements(plan_, element_size(), before_, block());
}

bool Placed::guards_hold() const { return protocol::guards_hold(block_, bytes_); }

}  // namespace bic::plugin
