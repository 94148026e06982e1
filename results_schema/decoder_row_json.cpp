#include <nlohmann/json.hpp>

#include "results_schema/decoder_row.h"
#include "results_schema/optional_json.h"
#include "results_schema/vocabulary_json.h"

using nlohmann::json;

namespace bic::report {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DecoderToken, request, position, alone, served)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    DecoderValue, request, position, token, bits_expected, bits_served)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    DecoderTraffic, passes, mixed_passes, batch_sizes, largest_batch, cut_prompts, reused_tokens)

void to_json(json& j, const DecoderQuestion& q) {
  j = {{"preset", q.preset},
       {"dtype", q.dtype},
       {"seed", to_string(q.seed)},
       {"requests", q.requests},
       {"others", q.others},
       {"new_tokens", q.new_tokens},
       {"threads", q.threads}};
}

void from_json(const json& j, DecoderQuestion& q) {
  j.at("preset").get_to(q.preset);
  j.at("dtype").get_to(q.dtype);
  q.seed = value_of(j.at("seed"), parse_seed, "seed");
  j.at("requests").get_to(q.requests);
  j.at("others").get_to(q.others);
  j.at("new_tokens").get_to(q.new_tokens);
  j.at("threads").get_to(q.threads);
}

void to_json(json& j, const DecoderAnswer& a) {
  j = {{"requests", a.requests},
       {"distinct", a.distinct},
       {"alone", a.alone},
       {"least_lead", a.least_lead},
       {"tokens", a.tokens},
       {"different", a.different},
       {"largest", a.largest},
       {"traffic", a.traffic}};
  put_if(j, "first_token", a.first_token);
  put_if(j, "first_logit", a.first_logit);
  put_if(j, "first_log_probability", a.first_log_probability);
}

void from_json(const json& j, DecoderAnswer& a) {
  j.at("requests").get_to(a.requests);
  j.at("distinct").get_to(a.distinct);
  j.at("alone").get_to(a.alone);
  j.at("least_lead").get_to(a.least_lead);
  j.at("tokens").get_to(a.tokens);
  j.at("different").get_to(a.different);
  j.at("largest").get_to(a.largest);
  get_if(j, "first_token", a.first_token);
  get_if(j, "first_logit", a.first_logit);
  get_if(j, "first_log_probability", a.first_log_probability);
  j.at("traffic").get_to(a.traffic);
}

void to_json(json& j, const DecoderRow& r) {
  j = {{"question", r.question},
       {"status", r.status},
       {"reasons", r.reasons},
       {"message", r.message}};
  put_if(j, "answer", r.answer);
  if (r.killed_workers > 0) j["killed_workers"] = r.killed_workers;
}

void from_json(const json& j, DecoderRow& r) {
  j.at("question").get_to(r.question);
  j.at("status").get_to(r.status);
  j.at("reasons").get_to(r.reasons);
  j.at("message").get_to(r.message);
  get_if(j, "answer", r.answer);
  r.killed_workers = j.value("killed_workers", std::int64_t{0});
}

}  // namespace bic::report
