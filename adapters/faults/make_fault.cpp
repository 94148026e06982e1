#include <algorithm>
#include <utility>

#include "adapters/faults/catalog.h"
#include "adapters/faults/changed_inputs.h"
#include "adapters/faults/changed_outputs.h"
#include "adapters/faults/conduct.h"
#include "adapters/faults/kept_state.h"
#include "adapters/faults/other_order.h"
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
std::unique_ptr<Interposer> order() {
  return other_order(choice);
}

template <InputChange change>
std::unique_ptr<Interposer> inputs() {
  return changed_inputs(change);
}

template <OutputChange change>
std::unique_ptr<Interposer> output() {
  return changed_output(change);
}

template <Conduct conduct>
std::unique_ptr<Interposer> call() {
  return misconduct(conduct);
}

constexpr Maker kMakers[] = {
    {"split-by-batch", order<split_by_batch>},
    {"block-by-rows", order<block_by_rows>},
    {"product-lanes", order<split_by_batch>},
    {"small-batch-kernel", order<small_batch_kernel>},
    {"split-k-at-one", order<split_k_at_one>},
    {"width-classes", order<width_classes>},
    {"tile-by-batch", order<tile_by_batch>},
    {"scalar-tail", output<scalar_tail>},
    {"scan-tail", output<scan_tail>},
    {"one-batch-size", order<one_batch_size>},
    {"last-position", order<last_position>},
    {"first-row-only", order<first_row_only>},
    {"beside-tile-edge", order<beside_tile_edge>},
    {"odd-lane", order<odd_lane>},
    {"one-lane", order<one_lane>},
    {"shared-prefix", order<shared_prefix>},
    {"misaligned", order<misaligned>},
    {"misaligned-weights", order<misaligned_weights>},
    {"row-alignment", order<row_alignment>},
    {"strided", order<strided>},
    {"channels-last", order<channels_last>},
    {"broadcast-batch", order<broadcast_batch>},
    {"row-overread", output<row_overread>},
    {"thread-split", order<thread_split>},
    {"serial-kernel", order<serial_kernel>},
    {"chunk-tails", output<chunk_tails>},
    {"given-output", order<given_output>},
    {"inplace-order", order<inplace_order>},
    {"beta-times-output", output<beta_times_output>},
    {"vector-order", order<vector_order>},
    {"halves-of-k", output<halves_of_k>},
    {"unaligned-k", order<unaligned_k>},
    {"odd-row", order<odd_row>},
    {"masked-nan", output<masked_nan>},
    {"padded-length", order<padded_length>},
    {"decode-order", order<decode_order>},
    {"split-by-longest", order<split_by_longest>},
    {"mask-off-by-one", inputs<mask_off_by_one>},
    {"scale-ignored", inputs<scale_ignored>},
    {"heads-interleaved", output<heads_interleaved>},
    {"nan-leak", output<nan_leak>},
    {"neighbour-scale", order<neighbour_scale>},
    {"subnormal-neighbours", order<subnormal_neighbours>},
    {"overflow-retry", order<overflow_retry>},
    {"padding-detected", order<padding_detected>},
    {"masked-rows", order<masked_rows>},
    {"zero-samples", order<zero_samples>},
    {"nan-check", order<nan_check>},
    {"outlier-columns", order<outlier_columns>},
    {"rescaled-rows", order<rescaled_rows>},
    {"batch-statistics", inputs<batch_statistics>},
    {"batch-maximum", inputs<batch_maximum>},
    {"fp8-scale", inputs<fp8_scale>},
    {"neighbours-index", inputs<neighbours_index>},
    {"carry-not-reset", output<carry_not_reset>},
    {"cached-by-content", cached_by_content},
    {"hash-collision", hash_collision},
    {"first-call", first_call},
    {"autotune-by-shape", autotune_by_shape},
    {"tier-up", tier_up},
    {"grown-workspace", grown_workspace},
    {"replayed", replayed},
    {"noisy", noisy},
    {"atomic-add", atomic_add},
    {"rare-element", rare_element},
    {"order-by-draw", order<order_by_draw>},
    {"dithered", output<dithered>},
    {"advancing-stream", advancing_stream},
    {"tf32-inputs", inputs<tf32_inputs>},
    {"bf16-inputs", inputs<bf16_inputs>},
    {"bf16-integers", inputs<bf16_integers>},
    {"bf16-phases", inputs<bf16_phases>},
    {"half-exp", inputs<half_exp>},
    {"sixteen-bit-partials", output<sixteen_bit_partials>},
    {"single-inside", output<single_inside>},
    {"rounded-before-bias", output<rounded_before_bias>},
    {"approximate-gelu", output<approximate_gelu>},
    {"dropped-tail", inputs<dropped_tail>},
    {"zero-skip", inputs<zero_skip>},
    {"constant-tile", inputs<constant_tile>},
    {"alpha-ignored", inputs<alpha_ignored>},
    {"beta-ignored", inputs<beta_ignored>},
    {"bias-ignored", inputs<bias_ignored>},
    {"wrong-eps", inputs<wrong_eps>},
    {"correction-ignored", output<correction_ignored>},
    {"single-term", output<single_term>},
    {"lost-last-row", output<lost_last_row>},
    {"flushed-outputs", output<flushed_outputs>},
    {"flushed-inputs", inputs<flushed_inputs>},
    {"saturating-cast", output<saturating_cast>},
    {"finite-math", output<finite_math>},
    {"unsigned-zero-tail", output<unsigned_zero_tail>},
    {"signed-nan-tail", output<signed_nan_tail>},
    {"stale-output", call<stale_output>},
    {"grid-limit", call<grid_limit>},
    {"dirty-workspace", output<dirty_workspace>},
    {"previous-output", previous_output},
    {"out-of-bounds", call<out_of_bounds>},
    {"before-begin", call<before_begin>},
    {"input-overrun", call<input_overrun>},
    {"aligned-store", call<aligned_store>},
    {"scribbled-input", call<scribbled_input>},
    {"packed-in-place", call<packed_in_place>},
    {"not-called", call<not_called>},
    {"wrong-dtype", call<wrong_dtype>},
    {"narrowed-result", call<narrowed_result>},
    {"wrong-shape", call<wrong_shape>},
    {"transposed-output", call<transposed_output>},
    {"refuses", call<refuses>},
    {"refuses-unaligned", call<refuses_unaligned>},
    {"throws", call<throws>},
    {"crashes", call<crashes>},
    {"aborts", call<aborts>},
    {"hangs", call<hangs>},
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
