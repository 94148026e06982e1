#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results_schema/vocabulary.h"

/// What a report, a journal and a worker say of a decoder at temperature 0 (docs/decoder.md).
namespace bic::report {

/// One prompt, asked again and again of a busy server that others use too.
struct DecoderQuestion {
  std::string preset;
  DType dtype = DType::kFloat32;
  Seed seed;                    ///< of the other requests, and of who is served when
  std::int64_t requests = 0;    ///< of the prompt
  std::int64_t others = 0;      ///< requests of other prompts between them
  std::int64_t new_tokens = 0;  ///< that the prompt is completed by
  std::int64_t threads = 0;
  bool operator==(const DecoderQuestion&) const = default;
};

/// "decoder.tiny-ragged/bf16": by which waivers and other formats know its row.
std::string name(const DecoderQuestion& question);

/// A token that is not the one that the prompt has alone.
struct DecoderToken {
  std::int64_t request = 0;
  std::int64_t position = 0;  ///< in the completion
  std::int64_t alone = 0;
  std::int64_t served = 0;
};

/// A number that has other bits than it should have. Both are given as fp64, which holds them
/// exactly: "0xbff0000000000000" is -1.
struct DecoderValue {
  std::int64_t request = 0;
  std::int64_t position = 0;  ///< in the completion
  std::int64_t token = 0;     ///< whose logit or log-probability it is
  std::string bits_expected;
  std::string bits_served;
};

/// What the server did: agreement under no load proves nothing.
struct DecoderTraffic {
  std::int64_t passes = 0;
  std::int64_t mixed_passes = 0;  ///< with prompts' chunks beside single tokens
  std::int64_t batch_sizes = 0;   ///< different ones
  std::int64_t largest_batch = 0;
  std::int64_t cut_prompts = 0;
  std::int64_t reused_tokens = 0;
};

/// What a worker says to the question; its answer in the protocol has these names.
struct DecoderAnswer {
  std::int64_t requests = 0;
  std::int64_t distinct = 0;        ///< completions of the prompt; 1 is right
  std::vector<std::int64_t> alone;  ///< the completion when nobody else is served
  std::string least_lead;           ///< of a chosen logit over the next, alone; C hex-float
  std::int64_t tokens = 0;          ///< log-probabilities, those of the others' tokens too,
  std::int64_t different = 0;       ///< and how many have not the trainer's bits
  std::string largest;              ///< of their differences, in nats; C hex-float
  std::optional<DecoderToken> first_token;
  std::optional<DecoderValue> first_logit;
  std::optional<DecoderValue> first_log_probability;
  DecoderTraffic traffic;

  bool is_invariant() const {
    return distinct == 1 && !first_token && !first_logit && different == 0;
  }
};

/// The answer, judged.
struct DecoderRow {
  DecoderQuestion question;
  Status status = Status::kError;
  std::vector<Reason> reasons;
  std::string message;                  ///< one line for people
  std::optional<DecoderAnswer> answer;  ///< of a worker that gave one
  /// Workers that something else ended, of which it was asked again; 0 may be left out.
  std::int64_t killed_workers = 0;
};

// JSON under the members' names, as in the schema's definition decoder_row. Reading throws
// nlohmann::json::exception or UsageError when it does not fit.
void to_json(nlohmann::json& j, const DecoderQuestion& question);
void to_json(nlohmann::json& j, const DecoderAnswer& answer);
void to_json(nlohmann::json& j, const DecoderRow& row);
void from_json(const nlohmann::json& j, DecoderQuestion& question);
void from_json(const nlohmann::json& j, DecoderAnswer& answer);
void from_json(const nlohmann::json& j, DecoderRow& row);

}  // namespace bic::report
