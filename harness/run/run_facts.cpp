#include "harness/run/run_facts.h"

#include "harness/plan/shard_choice.h"
#include "harness/workers/environment.h"
#include "results_schema/sha256.h"

namespace bic {

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
  const report::Environment& e = report.environment;
  facts.emplace_back("cpu", e.cpu);
  facts.emplace_back("isa", e.isa);
  facts.emplace_back("cores", std::to_string(e.cores));
  facts.emplace_back("threads", std::to_string(e.threads));
  for (const auto& [name, value] : e.variables) facts.emplace_back("variable " + name, value);
  return facts;
}

}  // namespace bic
