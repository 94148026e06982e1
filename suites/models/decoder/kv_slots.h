#pragma once

#include <cstdint>
#include <vector>

#include "suites/models/pi0/decoder_stack.h"

namespace bic::decoder {

/// The tokens of one request in one forward pass.
struct Chunk {
  std::int64_t slot = 0;
  std::int64_t start = 0;            ///< tokens of the request that the slot holds already
  std::vector<std::int64_t> tokens;  ///< at least one

  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
  std::int64_t end() const { return start + size(); }
};

/// Keys and values of the requests being served, a slot each. A slot that goes from one request to
/// the next is not cleared: what the last one left behind the new one's tokens is hidden by the
/// mask alone, as in a server.
class KvSlots {
 public:
  /// `capacity`: tokens a slot.
  KvSlots(const pi0::Pass& pass, std::int64_t slots, std::int64_t capacity);

  /// Puts the rows of `own` [chunks, 1, T, head_dim] that are tokens where they belong.
  void write(std::size_t layer, const std::vector<Chunk>& chunks, const pi0::KeysValues& own);

  /// The first `rows` of the chunks' slots, [chunks, 1, rows, head_dim]; `slots` is int64 [chunks].
  pi0::KeysValues read(std::size_t layer, const at::Tensor& slots, std::int64_t rows) const;

  /// The first `rows` of slot `from` become those of slot `to`.
  void copy(std::int64_t from, std::int64_t to, std::int64_t rows);

 private:
  std::vector<pi0::KeysValues> layers_;  ///< [slots, capacity, head_dim]
};

}  // namespace bic::decoder
