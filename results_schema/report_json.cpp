#include "results_schema/report_json.h"

#include <nlohmann/json.hpp>

#include "results_schema/json.h"
#include "results_schema/optional_json.h"
#include "results_schema/vocabulary_json.h"

using nlohmann::json;

namespace bic::report {

// Structs whose members are JSON already, under the members' names.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Detection, killed, faults)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeclaredOp, op, sha256)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Library, name, sha256, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Environment, os, kernel, cpu, isa, cores, threads, variables)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Shard, index, count, source, rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    ShardRun, index, count, command_line, started, duration_ns, environment, fingerprint)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Problems, order, tail, value, none)
// What an older report lacks of these is empty; the schema says what may be lacking.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    RelationRow, relation, required, counted_problems, passed, failed, vacuous, skipped, excused)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Coverage, required, executed, counted, planned)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ControlRow, law, problems, vacuous, compared, changed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationOutcome, relation, status)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Verdict,
                                   conforms,
                                   level,
                                   strength,
                                   certifiable,
                                   why_not_certifiable,
                                   ops_covered,
                                   ops_total,
                                   exit_code,
                                   text)

namespace {

json counters_to_json(const Counters& counters) {
  json object = json::object();
  for (std::size_t i = 0; i < kStatusCount; ++i) {
    object[std::string(name(static_cast<Status>(i)))] = counters.by_status[i];
  }
  return object;
}

Counters counters_from_json(const json& object) {
  Counters counters;
  for (std::size_t i = 0; i < kStatusCount; ++i) {
    object.at(std::string(name(static_cast<Status>(i)))).get_to(counters.by_status[i]);
  }
  return counters;
}

}  // namespace

void to_json(json& j, const Suite& s) {
  j = {{"name", s.name}, {"version", s.version}, {"relations", s.relations}};
  put_if(j, "kill_matrix_sha256", s.kill_matrix_sha256);
  put_if(j, "program_sha256", s.program_sha256);
  put_if(j, "detection", s.detection);
  put_if(j, "declared", s.declared);
  put_if(j, "weights", s.weights);
}

void from_json(const json& j, Suite& s) {
  j.at("name").get_to(s.name);
  j.at("version").get_to(s.version);
  j.at("relations").get_to(s.relations);
  get_if(j, "kill_matrix_sha256", s.kill_matrix_sha256);
  get_if(j, "program_sha256", s.program_sha256);
  get_if(j, "detection", s.detection);
  get_if(j, "declared", s.declared);
  get_if(j, "weights", s.weights);
}

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
       {"plan", r.plan},
       {"target", r.target},
       {"command_line", r.command_line},
       {"started", r.started},
       {"duration_ns", r.duration_ns},
       {"complete", r.complete},
       {"filtered", r.filtered},
       {"incomplete_reason", r.incomplete_reason}};
  put_if(j, "suite", r.suite);
  put_if(j, "repro_flags", r.repro_flags);
  put_if(j, "shard", r.shard);
  if (r.killed_workers > 0) j["killed_workers"] = r.killed_workers;
  put_if(j, "filters", r.filters);
}

void from_json(const json& j, Run& r) {
  r.seed = value_of(j.at("seed"), parse_seed, "seed");
  j.at("strength").get_to(r.strength);
  j.at("plan").get_to(r.plan);
  j.at("target").get_to(r.target);
  j.at("command_line").get_to(r.command_line);
  j.at("started").get_to(r.started);
  j.at("duration_ns").get_to(r.duration_ns);
  j.at("complete").get_to(r.complete);
  j.at("filtered").get_to(r.filtered);
  j.at("incomplete_reason").get_to(r.incomplete_reason);
  get_if(j, "suite", r.suite);
  get_if(j, "repro_flags", r.repro_flags);
  get_if(j, "shard", r.shard);
  r.killed_workers = j.value("killed_workers", std::int64_t{0});
  get_if(j, "filters", r.filters);
}

void to_json(json& j, const Totals& t) {
  j = counters_to_json(t.cases);
  j["planned"] = t.planned;
}

void from_json(const json& j, Totals& t) {
  t.cases = counters_from_json(j);
  j.at("planned").get_to(t.planned);
}

void to_json(json& j, const OpRow& o) {
  j = {{"op", o.op},
       {"dtype", o.dtype},
       {"level", o.level},
       {"cases", counters_to_json(o.cases)},
       {"why", o.why},
       {"problems", o.problems},
       {"relations", o.relations}};
  put_if(j, "worst_error_ppm", o.worst_error_ppm);
  put_if(j, "throughput", o.throughput);
}

void from_json(const json& j, OpRow& o) {
  j.at("op").get_to(o.op);
  j.at("dtype").get_to(o.dtype);
  j.at("level").get_to(o.level);
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
  j = {{"case", c.case_name}, {"status", c.status}, {"reasons", c.reasons}, {"digest", c.digest}};
  put_if(j, "inputs", c.inputs);
  put_if(j, "detail", c.detail);
}

void from_json(const json& j, CaseResult& c) {
  j.at("case").get_to(c.case_name);
  j.at("status").get_to(c.status);
  j.at("reasons").get_to(c.reasons);
  j.at("digest").get_to(c.digest);
  get_if(j, "inputs", c.inputs);
  get_if(j, "detail", c.detail);
}

json case_to_json(const CaseResult& result) { return result; }
CaseResult case_from_json(const json& j) { return j.get<CaseResult>(); }

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Failure, found, shrunk, trials, note, classes, relations)

void to_json(json& j, const Controls& c) {
  j = {
      {"searched", c.searched}, {"drawn", c.drawn}, {"redrawn", c.redrawn}, {"vacuous", c.vacuous}};
  put_if(j, "laws", c.laws);
}

void from_json(const json& j, Controls& c) {
  j.at("searched").get_to(c.searched);
  j.at("drawn").get_to(c.drawn);
  j.at("redrawn").get_to(c.redrawn);
  j.at("vacuous").get_to(c.vacuous);
  get_if(j, "laws", c.laws);
}

json failure_to_json(const Failure& failure) { return failure; }
Failure failure_from_json(const json& j) { return j.get<Failure>(); }
json controls_to_json(const Controls& controls) { return controls; }
Controls controls_from_json(const json& j) { return j.get<Controls>(); }

void to_json(json& j, const Report& r) {
  j = {{"schema_version", r.schema_version},
       {"suite", r.suite},
       {"subject", r.subject},
       {"environment", r.environment},
       {"run", r.run},
       {"totals", r.totals},
       {"verdict", r.verdict},
       {"ops", r.ops},
       {"cases", r.cases},
       {"coverage", r.coverage},
       {"controls", r.controls}};
  put_if(j, "peer", r.peer);
  put_if(j, "shards", r.shards);
  put_if(j, "failures", r.failures);
  put_if(j, "decoder", r.decoder);
  put_if(j, "models", r.models);
  put_if(j, "waivers", r.waivers);
}

void from_json(const json& j, Report& r) {
  j.at("schema_version").get_to(r.schema_version);
  j.at("suite").get_to(r.suite);
  j.at("subject").get_to(r.subject);
  get_if(j, "peer", r.peer);
  j.at("environment").get_to(r.environment);
  j.at("run").get_to(r.run);
  get_if(j, "shards", r.shards);
  j.at("totals").get_to(r.totals);
  j.at("verdict").get_to(r.verdict);
  j.at("ops").get_to(r.ops);
  j.at("cases").get_to(r.cases);
  get_if(j, "failures", r.failures);
  get_if(j, "decoder", r.decoder);
  get_if(j, "models", r.models);
  get_if(j, "waivers", r.waivers);
  j.at("coverage").get_to(r.coverage);
  j.at("controls").get_to(r.controls);
}

json report_to_json(const Report& report) {
  // Not `return report`: a manifest may throw, and json's constructor then leaks what it has built.
  json j;
  to_json(j, report);
  return j;
}

Report report_from_json(const json& j) { return j.get<Report>(); }

}  // namespace bic::report
