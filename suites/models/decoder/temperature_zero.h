#pragma once

#include <optional>

#include "suites/models/decoder/scheduler.h"

namespace bic::decoder {

/// One prompt asked again and again of a busy server that others use too.
struct Question {
  std::vector<std::int64_t> prompt;
  std::int64_t new_tokens = 8;
  std::int64_t requests = 200;  ///< of that prompt
  std::int64_t others = 40;  ///< of other prompts, drawn from the load's seed; some share a prefix
  Load load;
};

/// A request's first token that is not the one it has alone.
struct TokenDifference {
  std::int64_t request = 0;
  std::int64_t position = 0;  ///< in the completion
  std::int64_t alone = 0;
  std::int64_t served = 0;
};

/// A number that should have had the same bits; both values are exact.
struct ValueDifference {
  std::int64_t request = 0;
  std::int64_t position = 0;  ///< in the completion
  std::int64_t token = 0;     ///< whose logit or log-probability it is
  double expected = 0;        ///< alone, or in the trainer's pass
  double served = 0;
};

/// Log-probabilities of the sampled tokens, of all requests: decoded, against one forward pass of a
/// trainer over the whole sequence.
struct OnPolicy {
  std::int64_t tokens = 0;
  std::int64_t different = 0;
  double largest = 0;  ///< difference, in nats
  std::optional<ValueDifference> first;
};

/// Does temperature 0 mean one answer? Differences are the first by position in the completion,
/// then in the order of service.
struct Answer {
  std::int64_t requests = 0;
  std::int64_t distinct = 0;        ///< completions of the prompt; 1 is right
  std::vector<std::int64_t> alone;  ///< the completion of the prompt when nobody else is served
  double least_lead = 0;  ///< of a token's logit over the next best, alone: differences of logits
                          ///< far below it cannot show in tokens
  std::optional<TokenDifference> first_token;
  std::optional<ValueDifference> first_logit;
  OnPolicy on_policy;
  Traffic traffic;

  bool is_invariant() const {
    return distinct == 1 && !first_token && !first_logit && on_policy.different == 0;
  }
};

/// Of so many tokens; token j is that of sample 0 of pi0's synthetic texts. Every preset knows it.
std::vector<std::int64_t> prompt(std::int64_t tokens);

/// The requests of a question: those of its prompt have the ids 0 to `requests` - 1.
std::vector<Request> requests_of(const pi0::Config& config, const Question& question);

/// Asks. Throws UsageError as `serve` does, and for no requests.
Answer ask(const pi0::Model& model, const Question& question);

}  // namespace bic::decoder
