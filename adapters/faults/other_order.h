#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "adapters/libtorch/interposer.h"

namespace bic::faults {

/// Places in the batch.
using Slots = std::vector<std::int64_t>;

/// Which slots of a call are computed otherwise; none in most calls.
using Choice = Slots (*)(const libtorch::InterposedCall&);

/// A fault that chooses between two honest evaluations, by what the choice's name says.
std::unique_ptr<libtorch::Interposer> other_order(Choice choice);

/// The honest call, its slots of choice replaced by those of the other evaluation.
at::Tensor mixed(const libtorch::InterposedCall& call, const Slots& other);

/// All slots, or none.
Slots all_if(const libtorch::InterposedCall& call, bool condition);

/// 64 random bits for each number.
std::uint64_t draw_of(std::uint64_t number);

// By the batch.
Slots split_by_batch(const libtorch::InterposedCall&);
Slots block_by_rows(const libtorch::InterposedCall&);
Slots small_batch_kernel(const libtorch::InterposedCall&);
Slots split_k_at_one(const libtorch::InterposedCall&);
Slots width_classes(const libtorch::InterposedCall&);
Slots one_batch_size(const libtorch::InterposedCall&);

// By the place in it.
Slots tile_by_batch(const libtorch::InterposedCall&);
Slots last_position(const libtorch::InterposedCall&);
Slots first_row_only(const libtorch::InterposedCall&);
Slots beside_tile_edge(const libtorch::InterposedCall&);
Slots odd_lane(const libtorch::InterposedCall&);
Slots one_lane(const libtorch::InterposedCall&);
Slots order_by_draw(const libtorch::InterposedCall&);

// By the others in it.
Slots shared_prefix(const libtorch::InterposedCall&);
Slots neighbour_scale(const libtorch::InterposedCall&);
Slots subnormal_neighbours(const libtorch::InterposedCall&);
Slots overflow_retry(const libtorch::InterposedCall&);
Slots padding_detected(const libtorch::InterposedCall&);
Slots masked_rows(const libtorch::InterposedCall&);
Slots zero_samples(const libtorch::InterposedCall&);
Slots nan_check(const libtorch::InterposedCall&);
Slots outlier_columns(const libtorch::InterposedCall&);
Slots rescaled_rows(const libtorch::InterposedCall&);
Slots split_by_longest(const libtorch::InterposedCall&);

// By layout, threads and form.
Slots misaligned(const libtorch::InterposedCall&);
Slots misaligned_weights(const libtorch::InterposedCall&);
Slots row_alignment(const libtorch::InterposedCall&);
Slots strided(const libtorch::InterposedCall&);
Slots channels_last(const libtorch::InterposedCall&);
Slots broadcast_batch(const libtorch::InterposedCall&);
Slots thread_split(const libtorch::InterposedCall&);
Slots serial_kernel(const libtorch::InterposedCall&);
Slots given_output(const libtorch::InterposedCall&);
Slots inplace_order(const libtorch::InterposedCall&);
Slots decode_order(const libtorch::InterposedCall&);
Slots vector_order(const libtorch::InterposedCall&);

// By the length of the reduced axis.
Slots unaligned_k(const libtorch::InterposedCall&);
Slots odd_row(const libtorch::InterposedCall&);
Slots padded_length(const libtorch::InterposedCall&);

}  // namespace bic::faults
