#pragma once

#include <functional>

#include "results_schema/vocabulary.h"
#include "suites/models/pi0/model.h"

namespace bic::decoder {

struct Request {
  std::int64_t id = 0;
  std::vector<std::int64_t> prompt;  ///< at least one token
  std::int64_t new_tokens = 1;       ///< length of its completion
};

/// How busy the server is. What it does within these limits is drawn from the seed: the order of
/// arrival, when requests join, who takes part in a pass, chunks of prompts and reused prefixes.
struct Load {
  Seed seed;
  std::int64_t slots = 12;     ///< requests that have joined, at most
  std::int64_t max_batch = 8;  ///< requests in one forward pass
  std::int64_t max_chunk = 6;  ///< tokens of a request in one forward pass
  bool reuse_prefixes = true;  ///< keys and values of tokens that another slot holds are copied
};

struct Completion {
  Request request;
  std::vector<std::int64_t> tokens;
  std::vector<double> log_probabilities;  ///< of the tokens, when they were sampled
};

/// What a load amounted to: agreement under a load that was none proves nothing.
struct Traffic {
  std::int64_t passes = 0;
  std::int64_t mixed_passes = 0;  ///< with prompts' chunks beside single tokens
  std::int64_t batch_sizes = 0;   ///< different ones
  std::int64_t largest_batch = 0;
  std::int64_t cut_prompts = 0;  ///< evaluated in more than one chunk
  std::int64_t reused_tokens = 0;
};

struct Service {
  std::vector<Completion> completions;  ///< in the order of the requests given
  Traffic traffic;
};

/// Sees the logits [vocabulary] from which token `position` of a request's completion is taken.
using SeesLogits =
    std::function<void(const Request&, std::int64_t position, const at::Tensor& logits)>;

/// Serves all requests at temperature 0 with continuous batching: deterministic, without a clock.
/// Throws UsageError for an empty prompt, a token outside the vocabulary or a limit below 1.
Service serve(const pi0::Model& model,
              const std::vector<Request>& requests,
              const Load& load,
              const SeesLogits& sees = nullptr);

}  // namespace bic::decoder
