#include "harness/judge/decoder_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "harness/judge/row_status.h"

namespace bic {
namespace {

using report::DecoderAnswer;
using report::DecoderQuestion;
using report::DecoderRow;

const char* plural(std::int64_t count) { return count == 1 ? "" : "s"; }

/// The tokens that all requests of the question are completed by, those of others too.
std::int64_t tokens_of(const DecoderQuestion& q) {
  std::int64_t tokens = q.requests * q.new_tokens;
  for (std::int64_t i = 0; i < q.others; ++i) tokens += 1 + i % q.new_tokens;
  return tokens;
}

/// Why agreement shows nothing; empty where it does.
std::string idle(const DecoderQuestion& q, const DecoderAnswer& a) {
  const bool whole =
      a.requests == q.requests && a.tokens == tokens_of(q) && std::ssize(a.alone) == q.new_tokens;
  if (!whole) return "other requests were served than asked for";
  if (q.requests < 2) return "one request has nothing to differ from";
  if (a.traffic.largest_batch < 2) return "no two requests were in one batch";
  if (a.traffic.mixed_passes < 1) return "no prompt was evaluated beside single tokens";
  if (a.traffic.cut_prompts < 1) return "no prompt was evaluated in chunks";
  if (a.traffic.reused_tokens < 1) return "no prompt's first tokens were reused";
  return "";
}

double value_of(const std::string& bits) {
  return std::bit_cast<double>(
      static_cast<std::uint64_t>(std::strtoull(bits.c_str(), nullptr, 16)));
}

std::string text_of(const char* what, const report::DecoderValue& d) {
  return fmt::format(
      "; first other {}: {:.9g} for {:.9g}, of token {} at position {} of request {}",
      what,
      value_of(d.bits_served),
      value_of(d.bits_expected),
      d.token,
      d.position,
      d.request);
}

/// Of the differences that there are, the one that shows most.
std::string difference(const DecoderAnswer& a) {
  if (const auto& d = a.first_token) {
    return fmt::format("; first other token: {} for {} at position {} of request {}",
                       d->served,
                       d->alone,
                       d->position,
                       d->request);
  }
  if (a.first_logit) return text_of("logit", *a.first_logit);
  if (a.first_log_probability) return text_of("log-probability", *a.first_log_probability);
  return "";
}

/// "200 requests: 1 completion, 3508 of 3508 log-probabilities equal".
std::string sentence(const DecoderAnswer& a) {
  std::string text = fmt::format("{} request{}: {} completion{}, {} of {} log-probabilities equal",
                                 a.requests,
                                 plural(a.requests),
                                 a.distinct,
                                 plural(a.distinct),
                                 a.tokens - a.different,
                                 a.tokens);
  if (a.different > 0) {
    text += fmt::format(" (off by up to {:.2g})", std::strtod(a.largest.c_str(), nullptr));
  }
  return text;
}

}  // namespace

DecoderRow judge_decoder(const DecoderQuestion& question, const DecoderAnswer& answer) {
  DecoderRow row{
      .question = question, .status = Status::kPass, .message = sentence(answer), .answer = answer};
  if (!answer.is_invariant()) {
    row.status = Status::kFail;
    row.reasons = {Reason::kBits};
    row.message += difference(answer);
  } else if (const std::string why = idle(question, answer); !why.empty()) {
    row.status = Status::kVacuous;
    row.reasons = {Reason::kWitness};
    row.message += "; " + why;
  }
  return row;
}

std::string text_of(const DecoderQuestion& q) {
  return fmt::format("{} {}", q.preset, name(q.dtype));
}

std::string first_open(const std::vector<DecoderRow>& rows) {
  const auto at = std::ranges::find_if(rows, [](const DecoderRow& r) {
    return r.status != Status::kPass && r.status != Status::kUnsupported &&
           r.status != Status::kWaived;
  });
  return at == rows.end() ? "" : fmt::format("decoder {}: {}", text_of(at->question), at->message);
}

std::string summary(const std::vector<DecoderRow>& rows) {
  const std::int64_t asked = std::ssize(rows) - count(rows, Status::kUnsupported);
  if (asked == 0) return "";
  return fmt::format(
      "temperature 0 on {} of {} decoder{}", count(rows, Status::kPass), asked, plural(asked));
}

}  // namespace bic
