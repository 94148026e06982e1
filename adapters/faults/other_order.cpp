#include "adapters/faults/other_order.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <functional>

#include "adapters/faults/evaluate.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;
using protocol::TensorMessage;

class OtherOrder final : public Interposer {
 public:
  explicit OtherOrder(Choice choice) : choice_(choice) {}
  at::Tensor call(const InterposedCall& call) override { return mixed(call, choice_(call)); }

 private:
  Choice choice_;
};

Slots slots_if(const InterposedCall& call, const std::function<bool(std::int64_t)>& condition) {
  Slots chosen;
  for (std::int64_t slot = 0; slot < batch_of(call); ++slot) {
    if (condition(slot)) chosen.push_back(slot);
  }
  return chosen;
}

bool begins_at(const at::Tensor& t, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) % bytes == 0;
}

at::Tensor sample_of(const InterposedCall& call, const TensorMessage& t, std::int64_t slot) {
  return slots_of(call.problem, t, call.tensors.at(t.name), slot, 1);
}

/// Whether `is_so`, of each element of the first input, holds for all elements of some sample.
bool any_sample(const InterposedCall& call, const at::Tensor& is_so) {
  if (!is_so.any().item<bool>()) return false;
  return !slots_if(call, [&](std::int64_t slot) {
            const TensorMessage& first = call.problem.inputs.front();
            return slots_of(call.problem, first, is_so, slot, 1).all().item<bool>();
          }).empty();
}

/// Length of the first reduced axis, padding included.
std::int64_t reduced_length(const InterposedCall& call) {
  const TensorMessage& first = call.problem.inputs.front();
  return first_input(call).size(reduced_axes(call.problem, first).front());
}

}  // namespace

std::unique_ptr<Interposer> other_order(Choice choice) {
  return std::make_unique<OtherOrder>(choice);
}

at::Tensor mixed(const InterposedCall& call, const Slots& other) {
  if (other.empty()) return call.honest(call.tensors);
  const at::Tensor z = otherwise(call);
  if (std::ssize(other) == batch_of(call)) return hand_over(call, z);
  const at::Tensor y = honest(call);
  const auto part = [&](const at::Tensor& t, std::int64_t slot) {
    return slots_of(call.problem, call.problem.output, t, slot, 1);
  };
  for (std::int64_t slot : other) part(y, slot).copy_(part(z, slot));
  return hand_over(call, y);
}

Slots all_if(const InterposedCall& call, bool condition) {
  return slots_if(call, [=](std::int64_t) { return condition; });
}

// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t draw_of(std::uint64_t number) {
  std::uint64_t z = (number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

Slots split_by_batch(const InterposedCall& call) { return all_if(call, batch_of(call) >= 8); }
Slots block_by_rows(const InterposedCall& call) { return all_if(call, batch_of(call) >= 256); }
Slots small_batch_kernel(const InterposedCall& call) { return all_if(call, batch_of(call) < 4); }
Slots split_k_at_one(const InterposedCall& call) { return all_if(call, batch_of(call) == 1); }
Slots one_batch_size(const InterposedCall& call) { return all_if(call, batch_of(call) == 257); }

Slots width_classes(const InterposedCall& call) {
  return all_if(call, batch_of(call) >= 5 && batch_of(call) <= 8);
}

Slots tile_by_batch(const InterposedCall& call) {
  constexpr std::int64_t kTile = 16;
  const std::int64_t batch = batch_of(call), whole = batch - batch % kTile;
  return slots_if(call, [=](std::int64_t slot) { return batch > kTile && slot >= whole; });
}

Slots last_position(const InterposedCall& call) {
  const std::int64_t batch = batch_of(call);
  return slots_if(call, [=](std::int64_t slot) { return batch > 1 && slot == batch - 1; });
}

Slots first_row_only(const InterposedCall& call) {
  return slots_if(call, [](std::int64_t slot) { return slot > 0; });
}

Slots beside_tile_edge(const InterposedCall& call) {
  return slots_if(call, [](std::int64_t slot) { return slot == 16; });
}

Slots odd_lane(const InterposedCall& call) {
  return slots_if(call, [](std::int64_t slot) { return slot % 2 == 1; });
}

Slots one_lane(const InterposedCall& call) {
  const bool is_two_tiles = batch_of(call) == 128;
  return slots_if(call, [=](std::int64_t slot) { return is_two_tiles && slot == 100; });
}

Slots order_by_draw(const InterposedCall& call) {
  return slots_if(call, [](std::int64_t slot) { return draw_of(slot) % 2 == 1; });
}

Slots shared_prefix(const InterposedCall& call) {
  const TensorMessage& first = call.problem.inputs.front();
  const std::int64_t batch = batch_of(call);
  if (batch == 1 || batch_axis(first) < 0) return {};
  const at::Tensor leader = sample_of(call, first, 0);
  for (std::int64_t slot = 1; slot < batch; ++slot) {
    if (!sample_of(call, first, slot).equal(leader)) return {};
  }
  return all_if(call, true);
}

Slots neighbour_scale(const InterposedCall& call) {
  // Above every law's values but those of hostile neighbours.
  const double threshold = call.problem.dtype == DType::kFloat16 ? 0x1p15 : 0x1p100;
  const at::Tensor sizes = first_input(call).abs();
  return all_if(call, sizes.ge(threshold).logical_and(sizes.isfinite()).any().item<bool>());
}

Slots subnormal_neighbours(const InterposedCall& call) {
  return all_if(call, is_subnormal(first_input(call)).any().item<bool>());
}

Slots overflow_retry(const InterposedCall& call) {
  return all_if(call, first_input(call).isinf().any().item<bool>());
}

Slots padding_detected(const InterposedCall& call) {
  return all_if(call, any_sample(call, first_input(call).isnan()));
}

Slots masked_rows(const InterposedCall& call) {
  return all_if(call, any_sample(call, first_input(call).isinf()));
}

Slots zero_samples(const InterposedCall& call) {
  return all_if(call, any_sample(call, is_subnormal(first_input(call))));
}

Slots nan_check(const InterposedCall& call) {
  const at::Tensor is_nan = first_input(call).isnan();
  return all_if(call, is_nan.any().item<bool>() && !any_sample(call, is_nan));
}

Slots outlier_columns(const InterposedCall& call) {
  constexpr std::int64_t kTile = 128;
  const std::int64_t axis = batch_axis(call.problem.inputs.front());
  const bool has_tile = batch_of(call) >= kTile && first_input(call).size(axis) == batch_of(call);
  if (!has_tile) return {};
  const at::Tensor sizes = first_input(call).abs(), least = sizes.amin(axis);
  // Copies of one sample have no columns of their own, and what is large everywhere no outliers.
  const at::Tensor largest = sizes.amax(axis), varies = largest.gt(least);
  const bool is_tame = largest.lt(0x1p16).all().item<bool>();
  return all_if(call, is_tame && least.gt(0.25).logical_and(varies).any().item<bool>());
}

Slots rescaled_rows(const InterposedCall& call) {
  if (batch_of(call) < 8) return {};
  const TensorMessage& first = call.problem.inputs.front();
  const at::Tensor sizes = first_input(call).abs();
  const at::Tensor is_large = sizes.gt(0x1p16).logical_and(sizes.lt(0x1p60));
  if (!is_large.any().item<bool>()) return {};
  return slots_if(call, [&](std::int64_t slot) {
    return slots_of(call.problem, first, is_large, slot, 1).any().item<bool>();
  });
}

Slots split_by_longest(const InterposedCall& call) {
  const TensorMessage& mask = call.problem.inputs.back();
  if (mask.elements != "bool") return {};
  std::vector<std::int64_t> keys;
  for (std::int64_t slot = 0; slot < batch_of(call); ++slot) {
    keys.push_back(sample_of(call, mask, slot).sum().item<std::int64_t>());
  }
  const std::int64_t longest = *std::ranges::max_element(keys);
  return slots_if(call, [&](std::int64_t slot) { return keys[slot] < longest; });
}

Slots misaligned(const InterposedCall& call) {
  return all_if(call, !begins_at(first_input(call), 32));
}

Slots misaligned_weights(const InterposedCall& call) {
  return all_if(call, !begins_at(call.tensors.at(call.problem.inputs[1].name), 16));
}

Slots row_alignment(const InterposedCall& call) {
  const TensorMessage& first = call.problem.inputs.front();
  return slots_if(call,
                  [&](std::int64_t slot) { return !begins_at(sample_of(call, first, slot), 32); });
}

Slots strided(const InterposedCall& call) {
  return all_if(call, !first_input(call).is_contiguous());
}

Slots channels_last(const InterposedCall& call) {
  const at::Tensor& x = first_input(call);
  return all_if(call, x.dim() >= 3 && x.stride(-1) != 1 && x.size(-1) > 1);
}

Slots broadcast_batch(const InterposedCall& call) {
  const std::int64_t axis = batch_axis(call.problem.inputs.front());
  return all_if(call, axis >= 0 && batch_of(call) > 1 && first_input(call).stride(axis) == 0);
}

Slots thread_split(const InterposedCall& call) { return all_if(call, at::get_num_threads() > 2); }
Slots serial_kernel(const InterposedCall& call) { return all_if(call, at::get_num_threads() == 1); }

Slots given_output(const InterposedCall& call) {
  return all_if(call, writes_given(call.trial.trial.form));
}

Slots inplace_order(const InterposedCall& call) {
  return all_if(call, call.trial.trial.form == Form::kInplace);
}

Slots decode_order(const InterposedCall& call) {
  return all_if(call, call.trial.trial.form == Form::kChunk);
}

Slots vector_order(const InterposedCall& call) {
  return all_if(call, call.trial.trial.form == Form::kVector);
}

Slots unaligned_k(const InterposedCall& call) {
  return all_if(call, reduced_length(call) % 8 != 0);
}

Slots odd_row(const InterposedCall& call) { return all_if(call, reduced_length(call) % 2 == 1); }

Slots padded_length(const InterposedCall& call) {
  constexpr std::int64_t kBlock = 32;
  return all_if(call, (reduced_length(call) + kBlock - 1) / kBlock % 2 == 0);
}

}  // namespace bic::faults
