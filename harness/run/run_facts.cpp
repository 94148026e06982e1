#include "harness/run/run_facts.h"

#include <algorithm>

#include "harness/plan/shard_choice.h"
#include "harness/workers/environment.h"
#include "results_schema/sha256.h"
#include "suites/relations/relation.h"

namespace bic {

report::Suite describe_suite(const RunOptions& o) {
  report::Suite suite{.version = suite_version(),
                      .kill_matrix_sha256 = kill_matrix_sha256(),
                      .program_sha256 = sha256_file_hex("/proc/self/exe"),
                      .weights = o.weights};
  for (const Relation& r : relations()) suite.relations.emplace_back(r.name);
  for (const Relation& r : device_relations()) {
    const auto& asked = o.selection.relations;
    if (std::ranges::find(asked, &r) != asked.end()) suite.relations.emplace_back(r.name);
  }
  for (const OpSpec& op : registry()) {
    if (!op.declared_sha256.empty()) suite.declared.push_back({op.name, op.declared_sha256});
  }
  return suite;
}

report::Run describe_run(const RunOptions& o, const std::string& plan) {
  return {.seed = o.seed,
          .strength = std::string(name(o.strength)),
          .plan = plan,
          .target = o.selection.target,
          .command_line = o.command_line,
          .started = timestamp(),
          .duration_ns = 0,
          .complete = true,
          .filtered = o.selection.filtered,
          .incomplete_reason = "",
          .suite = o.selection.suite_text(),
          .repro_flags = o.backend.flags,
          .shard = o.shard,
          .filters = o.filters};
}

void add_subject(const report::Subject& s, const std::string& prefix, RunFacts& facts) {
  facts.emplace_back(prefix + "device", s.device);
  for (const report::Library& l : s.libraries) {
    facts.emplace_back(prefix + "library " + l.name, "sha256 " + l.sha256);
  }
  for (const auto& [name, value] : s.fingerprint) {
    facts.emplace_back(prefix + "fingerprint " + name, value);
  }
  facts.emplace_back(prefix + "manifest", "sha256 " + sha256_hex(s.manifest));
}

RunFacts asked_facts(const RunOptions& o, const std::string& plan) {
  const auto yes = [](bool given) { return given ? "yes" : "no"; };
  return {{"suite version", suite_version()},
          {"backend", o.backend.backend},
          {"backend flags", o.backend.flags.empty() ? "none" : o.backend.flags},
          {"seed", to_string(o.seed)},
          {"strength", std::string(name(o.strength))},
          {"shard", o.shard ? text_of(*o.shard) : "none"},
          {"timing", yes(o.timed)},
          {"shrinking", yes(o.shrink)},
          {"selftest", yes(o.selftest)},
          {"plan", plan}};
}

RunFacts found_facts(const report::Report& report) {
  RunFacts facts;
  add_subject(report.subject, "", facts);
  if (report.peer) add_subject(*report.peer, "peer ", facts);
  for (const report::DeclaredOp& d : report.suite.declared) {
    facts.emplace_back("declared op " + d.op, "sha256 " + d.sha256);
  }
  if (const auto& w = report.suite.weights) facts.emplace_back("weights", "sha256 " + w->sha256);
  const report::Environment& e = report.environment;
  facts.emplace_back("cpu", e.cpu);
  facts.emplace_back("isa", e.isa);
  facts.emplace_back("cores", std::to_string(e.cores));
  facts.emplace_back("threads", std::to_string(e.threads));
  for (const auto& [name, value] : e.variables) facts.emplace_back("variable " + name, value);
  return facts;
}

}  // namespace bic
