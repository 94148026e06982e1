#pragma once

#include <string>
#include <vector>

#include "results_schema/decoder_row.h"

namespace bic {

/// What an answer comes to. Red where anything varies: another completion, token or logit than the
/// prompt has alone, a log-probability that is not the trainer's. Agreement is vacuous where the
/// server was idle (no batch above one, no prompt's chunk beside single tokens, no prompt cut, none
/// reused) or less was served than asked for.
report::DecoderRow judge_decoder(const report::DecoderQuestion& question,
                                 const report::DecoderAnswer& answer);

/// "tiny-ragged bf16".
std::string text_of(const report::DecoderQuestion& question);

/// The first row that holds no proof, though it was asked for one, nor a waiver: "decoder tiny
/// bf16: why"; empty when there is none.
std::string first_open(const std::vector<report::DecoderRow>& rows);

/// "temperature 0 on 3 of 4 decoders"; empty when none was asked.
std::string summary(const std::vector<report::DecoderRow>& rows);

}  // namespace bic
