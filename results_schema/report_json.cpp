#include "results_schema/report_json.h"

#include <nlohmann/json.hpp>

#include "results_schema/error.h"
#include "results_schema/json.h"

namespace bic::report {

using nlohmann::json;

// Structs whose members are JSON already, under the members' names.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Suite, name, version, relations)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Library, name, sha256, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Environment, os, kernel, cpu, isa, cores, threads, variables)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Problems, order, tail, value, none)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    RelationRow, relation, required, counted_problems, passed, failed, vacuous, skipped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    Throughput, backend_ns, stock_ns, ratio_ppm, spread_ppm, shape, unit, work, digest_matches)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Coverage, required, executed, counted, planned)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Controls, searched, drawn, redrawn, vacuous)

namespace {

template <typename Enum>
std::string text_of(Enum value) {
  return std::string(name(value));
}

template <typename Enum>
Enum value_of(const json& text, std::optional<Enum> (*parse)(std::string_view), const char* what) {
  const auto value = parse(text.get_ref<const std::string&>());
  if (!value) throw UsageError("unknown " + std::string(what) + " " + text.dump());
  return *value;
}

template <typename Value>
void put_if(json& object, const char* key, const std::optional<Value>& value) {
  if (value) object[key] = *value;
}

void put_if(json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

template <typename Value>
void get_if(const json& object, const char* key, Value& out) {
  if (object.contains(key)) out = object.at(key).get<typename Value::value_type>();
}

void get_if(const json& object, const char* key, std::string& out) {
  if (object.contains(key)) object.at(key).get_to(out);
}

json counters_to_json(const Counters& counters) {
  json object = json::object();
  for (std::size_t i = 0; i < kStatusCount; ++i) {
    object[text_of(static_cast<Status>(i))] = counters.by_status[i];
  }
  return object;
}

Counters counters_from_json(const json& object) {
  Counters counters;
  for (std::size_t i = 0; i < kStatusCount; ++i) {
    object.at(text_of(static_cast<Status>(i))).get_to(counters.by_status[i]);
  }
  return counters;
}

}  // namespace

void to_json(json& j, const Subject& s) {
  j = {{"backend", s.backend},
       {"device", s.device},
       {"manifest", read_json(s.manifest, "manifest")},
       {"libraries", s.libraries},
       {"fingerprint", s.fingerprint}};
}

void from_json(const json& j, Subject& s) {
  j.at("backend").get_to(s.backend);
  j.at("device").get_to(s.device);
  s.manifest = canonical_json(j.at("manifest"));
  j.at("libraries").get_to(s.libraries);
  j.at("fingerprint").get_to(s.fingerprint);
}

void to_json(json& j, const Run& r) {
  j = {{"seed", to_string(r.seed)},
       {"strength", r.strength},
       {"command_line", r.command_line},
       {"started", r.started},
       {"duration_ns", r.duration_ns},
       {"complete", r.complete},
       {"filtered", r.filtered},
       {"incomplete_reason", r.incomplete_reason}};
}

void from_json(const json& j, Run& r) {
  r.seed = value_of<Seed>(j.at("seed"), parse_seed, "seed");
  j.at("strength").get_to(r.strength);
  j.at("command_line").get_to(r.command_line);
  j.at("started").get_to(r.started);
  j.at("duration_ns").get_to(r.duration_ns);
  j.at("complete").get_to(r.complete);
  j.at("filtered").get_to(r.filtered);
  j.at("incomplete_reason").get_to(r.incomplete_reason);
}

void to_json(json& j, const Totals& t) {
  j = counters_to_json(t.cases);
  j["planned"] = t.planned;
}

void from_json(const json& j, Totals& t) {
  t.cases = counters_from_json(j);
  j.at("planned").get_to(t.planned);
}

void to_json(json& j, const Verdict& v) {
  j = {{"conforms", v.conforms},
       {"level", text_of(v.level)},
       {"strength", v.strength},
       {"certifiable", v.certifiable},
       {"why_not_certifiable", v.why_not_certifiable},
       {"ops_covered", v.ops_covered},
       {"ops_total", v.ops_total},
       {"exit_code", v.exit_code},
       {"text", v.text}};
}

void from_json(const json& j, Verdict& v) {
  j.at("conforms").get_to(v.conforms);
  v.level = value_of<Level>(j.at("level"), parse_level, "level");
  j.at("strength").get_to(v.strength);
  j.at("certifiable").get_to(v.certifiable);
  j.at("why_not_certifiable").get_to(v.why_not_certifiable);
  j.at("ops_covered").get_to(v.ops_covered);
  j.at("ops_total").get_to(v.ops_total);
  j.at("exit_code").get_to(v.exit_code);
  j.at("text").get_to(v.text);
}

void to_json(json& j, const OpRow& o) {
  j = {{"op", o.op},
       {"dtype", text_of(o.dtype)},
       {"level", text_of(o.level)},
       {"cases", counters_to_json(o.cases)},
       {"why", o.why},
       {"problems", o.problems},
       {"relations", o.relations}};
  put_if(j, "worst_error_ppm", o.worst_error_ppm);
  put_if(j, "throughput", o.throughput);
}

void from_json(const json& j, OpRow& o) {
  j.at("op").get_to(o.op);
  o.dtype = value_of<DType>(j.at("dtype"), parse_dtype, "dtype");
  o.level = value_of<Level>(j.at("level"), parse_level, "level");
  o.cases = counters_from_json(j.at("cases"));
  get_if(j, "worst_error_ppm", o.worst_error_ppm);
  j.at("why").get_to(o.why);
  j.at("problems").get_to(o.problems);
  j.at("relations").get_to(o.relations);
  get_if(j, "throughput", o.throughput);
}

void to_json(json& j, const Detail& d) {
  j = {{"differing", d.differing}, {"total", d.total}, {"message", d.message}};
  put_if(j, "first_index", d.first_index);
  put_if(j, "bits_a", d.bits_a);
  put_if(j, "bits_b", d.bits_b);
  put_if(j, "ulps", d.ulps);
  put_if(j, "starts_at_batch", d.starts_at_batch);
}

void from_json(const json& j, Detail& d) {
  j.at("differing").get_to(d.differing);
  j.at("total").get_to(d.total);
  get_if(j, "first_index", d.first_index);
  get_if(j, "bits_a", d.bits_a);
  get_if(j, "bits_b", d.bits_b);
  get_if(j, "ulps", d.ulps);
  get_if(j, "starts_at_batch", d.starts_at_batch);
  j.at("message").get_to(d.message);
}

void to_json(json& j, const CaseResult& c) {
  json reasons = json::array();
  for (const Reason reason : c.reasons) reasons.push_back(text_of(reason));
  j = {{"case", c.case_name},
       {"status", text_of(c.status)},
       {"reasons", std::move(reasons)},
       {"digest", c.digest}};
  put_if(j, "detail", c.detail);
}

void from_json(const json& j, CaseResult& c) {
  j.at("case").get_to(c.case_name);
  c.status = value_of<Status>(j.at("status"), parse_status, "status");
  c.reasons.clear();
  for (const json& reason : j.at("reasons")) {
    c.reasons.push_back(value_of<Reason>(reason, parse_reason, "reason"));
  }
  j.at("digest").get_to(c.digest);
  get_if(j, "detail", c.detail);
}

json case_to_json(const CaseResult& result) { return result; }
CaseResult case_from_json(const json& j) { return j.get<CaseResult>(); }

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Report,
                                   schema_version,
                                   suite,
                                   subject,
                                   environment,
                                   run,
                                   totals,
                                   verdict,
                                   ops,
                                   cases,
                                   coverage,
                                   controls)

json report_to_json(const Report& report) {
  // Not `return report`: a manifest may throw, and json's constructor then leaks what it has built.
  json j;
  to_json(j, report);
  return j;
}

Report report_from_json(const json& j) { return j.get<Report>(); }

}  // namespace bic::report
