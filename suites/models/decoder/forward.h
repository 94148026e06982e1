#pragma once

#include "suites/models/decoder/kv_slots.h"

namespace bic::decoder {

/// One forward pass over a batch of chunks, whose keys and values go to `cache`: what the head
/// needs to tell the token after each of them, [chunks, width].
///
/// The batch is a rectangle. Rows are padded at their ends to the longest chunk; keys lie at their
/// positions and are read to the end of the longest request, and those after a query are masked. So
/// a request's company only changes how many rows, masked keys and batch entries there are, never
/// where one of its own terms stands in a sum.
at::Tensor last_hidden(const pi0::Pass& pass, KvSlots& cache, const std::vector<Chunk>& chunks);

/// The last norm's rows through the tied head: [..., width] to [..., vocabulary].
at::Tensor head(const pi0::Pass& pass, const at::Tensor& hidden);

/// A trainer's pass over one sequence, without a cache: logits after each of its tokens,
/// [tokens, vocabulary].
at::Tensor full_logits(const pi0::Pass& pass, const std::vector<std::int64_t>& tokens);

/// Of each row of `logits` [rows, vocabulary], the log-probability of its token, in
/// `Precision::softmax` and then widened.
std::vector<double> log_probabilities(const pi0::Pass& pass,
                                      const at::Tensor& logits,
                                      const std::vector<std::int64_t>& tokens);

/// The most likely token of each row, the first of equals.
std::vector<std::int64_t> greedy(const at::Tensor& logits);

}  // namespace bic::decoder
