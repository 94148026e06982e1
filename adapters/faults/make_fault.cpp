#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "adapters/faults/by_op.h"
#include "adapters/faults/catalog.h"
#include "adapters/faults/conduct.h"
#include "adapters/faults/other_order.h"
#include "adapters/faults/values.h"
#include "adapters/libtorch/interposer.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;

/// A fault, let loose on the ops of its catalog entry only.
class OnItsOps final : public Interposer {
 public:
  OnItsOps(const Fault& entry, std::unique_ptr<Interposer> fault)
      : entry_(entry), fault_(std::move(fault)) {}

  void load(const protocol::ProblemMessage& problem) override { fault_->load(problem); }

  at::Tensor call(const InterposedCall& call) override {
    const bool touches = std::ranges::find(entry_.ops, call.problem.op) != entry_.ops.end();
    return touches ? fault_->call(call) : call.honest(call.tensors);
  }

 private:
  const Fault& entry_;
  std::unique_ptr<Interposer> fault_;
};

struct Maker {
  std::string_view name;
  std::unique_ptr<Interposer> (*make)();
};

template <Choice choice>
std::unique_ptr<Interposer> by() {
  return other_order(choice);
}

constexpr Maker kMakers[] = {
    {"split-by-batch", by<split_by_batch>},
    {"tile-by-batch", by<tile_by_batch>},
    {"scalar-tail", scalar_tail},
    {"last-position", by<last_position>},
    {"one-batch-size", by<one_batch_size>},
    {"nan-leak", nan_leak},
    {"neighbour-scale", by<neighbour_scale>},
    {"cached-by-content", cached_by_content},
    {"thread-split", by<thread_split>},
    {"misaligned", by<misaligned>},
    {"strided", by<strided>},
    {"given-output", by<given_output>},
    {"halves-of-k", halves_of_k},
    {"decode-order", by<decode_order>},
    {"vector-order", by<vector_order>},
    {"alpha-ignored", alpha_ignored},
    {"mask-off-by-one", mask_off_by_one},
    {"batch-statistics", batch_statistics},
    {"scan-tail", scan_tail},
    {"masked-nan", masked_nan},
    {"first-call", first_call},
    {"noisy", noisy},
    {"stale-output", stale_output},
    {"tf32-inputs", tf32_inputs},
    {"dropped-tail", dropped_tail},
    {"scribbled-input", scribbled_input},
    {"not-called", not_called},
    {"out-of-bounds", out_of_bounds},
    {"wrong-dtype", wrong_dtype},
    {"wrong-shape", wrong_shape},
    {"refuses", refuses},
    {"crashes", crashes},
    {"hangs", hangs},
};

}  // namespace
}  // namespace bic::faults

std::unique_ptr<bic::libtorch::Interposer> bic::libtorch::make_fault(std::string_view name) {
  using namespace bic::faults;
  const Fault* entry = find(name);
  const auto* maker = std::ranges::find(kMakers, name, &Maker::name);
  if (entry == nullptr || maker == std::end(kMakers)) return nullptr;
  return std::make_unique<OnItsOps>(*entry, maker->make());
}
