#pragma once

// Internal, for tests: what an invariant decoder says to a question.

#include <numeric>

#include "results_schema/decoder_row.h"

namespace bic {

inline report::DecoderAnswer right_answer(const report::DecoderQuestion& q) {
  report::DecoderAnswer a{.requests = q.requests,
                          .distinct = 1,
                          .alone = std::vector<std::int64_t>(q.new_tokens),
                          .least_lead = "0x1p-6",
                          .tokens = q.requests * q.new_tokens,
                          .different = 0,
                          .largest = "0x0p+0",
                          .first_token = {},
                          .first_logit = {},
                          .first_log_probability = {},
                          .traffic = {.passes = 900,
                                      .mixed_passes = 300,
                                      .batch_sizes = 8,
                                      .largest_batch = 8,
                                      .cut_prompts = 150,
                                      .reused_tokens = 4000}};
  std::iota(a.alone.begin(), a.alone.end(), 5);
  for (std::int64_t i = 0; i < q.others; ++i) a.tokens += 1 + i % q.new_tokens;
  return a;
}

}  // namespace bic
