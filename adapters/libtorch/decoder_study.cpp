#include "adapters/libtorch/decoder_study.h"

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "adapters/libtorch/device.h"
#include "adapters/libtorch/placed.h"
#include "results_schema/decoder_row.h"
#include "suites/models/decoder/presets.h"
#include "suites/models/decoder/temperature_zero.h"

namespace bic::libtorch {
namespace {

constexpr std::int64_t kPromptTokens = 11;

std::string bits(double value) { return fmt::format("{:#x}", std::bit_cast<std::uint64_t>(value)); }

std::optional<report::DecoderValue> words(const std::optional<decoder::ValueDifference>& d) {
  if (!d) return {};
  return report::DecoderValue{
      d->request, d->position, d->token, bits(d->expected), bits(d->served)};
}

std::optional<report::DecoderToken> words(const std::optional<decoder::TokenDifference>& d) {
  if (!d) return {};
  return report::DecoderToken{d->request, d->position, d->alone, d->served};
}

report::DecoderAnswer words(const decoder::Answer& a) {
  const decoder::Traffic& t = a.traffic;
  return {.requests = a.requests,
          .distinct = a.distinct,
          .alone = a.alone,
          .least_lead = fmt::format("{:a}", a.least_lead),
          .tokens = a.on_policy.tokens,
          .different = a.on_policy.different,
          .largest = fmt::format("{:a}", a.on_policy.largest),
          .first_token = words(a.first_token),
          .first_logit = words(a.first_logit),
          .first_log_probability = words(a.on_policy.first),
          .traffic = {.passes = t.passes,
                      .mixed_passes = t.mixed_passes,
                      .batch_sizes = t.batch_sizes,
                      .largest_batch = t.largest_batch,
                      .cut_prompts = t.cut_prompts,
                      .reused_tokens = t.reused_tokens}};
}

}  // namespace

nlohmann::json decoder_study(const nlohmann::json& request, std::span<std::byte>) {
  const auto q = request.get<report::DecoderQuestion>();
  const pi0::Model model = decoder::synthetic_model(q.preset, scalar_type(q.dtype), device());
  return words(decoder::ask(model,
                            {.prompt = decoder::prompt(kPromptTokens),
                             .new_tokens = q.new_tokens,
                             .requests = q.requests,
                             .others = q.others,
                             .load = {.seed = q.seed}}));
}

}  // namespace bic::libtorch
