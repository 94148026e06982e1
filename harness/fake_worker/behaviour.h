#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "adapters/protocol/messages.h"
#include "results_schema/decoder_row.h"
#include "suites/ops/op_spec.h"

namespace bic::fake {

/// Path, but for the parent's process id, of the file that `killed-once-at-33` leaves.
inline constexpr const char* kKilledOnceMark = "/tmp/bi-conform-killed-once-";

/// What a behaviour may look at.
struct Call {
  const protocol::ProblemMessage& problem;
  const protocol::TrialMessage& trial;
  std::int64_t calls = 0;        ///< trials of this worker before this one
  std::int64_t first_batch = 1;  ///< batch of the first trial of the problem
  bool seen_before = false;      ///< the same request came before, in this problem
  bool seen_reordered = false;   ///< a large batch of the same samples did, in another order
  std::int64_t batch() const { return static_cast<std::int64_t>(trial.slots.size()); }
};

/// One way to be wrong. A member that is null does nothing.
struct Behaviour {
  std::string_view name;
  /// Whether the sample at `position` is summed in another order.
  bool (*otherwise)(const Call&, std::int64_t position) = nullptr;
  /// Computes elements of a sample instead of the op's reference.
  void (*evaluate)(const OpSpec&,
                   const Operands&,
                   DType output,
                   std::span<const std::int64_t> elements,
                   std::span<double> y) = nullptr;
  /// Before the op runs: throws, dies, hangs.
  void (*before)(const Call&) = nullptr;
  /// Changes what was computed and what is reported of it.
  void (*spoil)(const Call&, protocol::TrialReply&, std::span<std::byte> output) = nullptr;
  bool drops_last_term = false;
  bool claims_own_overload = false;  ///< one that never runs
  std::string_view only_op = {};     ///< the one op that it claims; empty: all
  /// Changes the right answer of a decoder. Null: no study is announced.
  void (*answer)(report::DecoderAnswer&) = nullptr;
};

/// The behaviour of that name. Throws std::invalid_argument when there is none.
const Behaviour& find_behaviour(const std::string& name);

}  // namespace bic::fake
