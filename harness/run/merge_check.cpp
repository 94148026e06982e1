#include "harness/run/merge_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/plan/shard_choice.h"
#include "harness/run/run_facts.h"
#include "harness/workers/environment.h"
#include "results_schema/error.h"

namespace bic {
namespace {

/// What machines differ by that run the same backend (or peer).
bool is_of_machine(const std::string& fact) {
  constexpr std::array kFacts{
      "fingerprint cpu_capability", "fingerprint interpreter", "fingerprint threads"};
  return std::ranges::any_of(kFacts, [&](const char* end) { return fact.ends_with(end); });
}

void add_suite(RunFacts& facts, const report::Suite& suite) {
  facts.emplace_back("suite version", suite.version);
  facts.emplace_back("kill matrix", suite.kill_matrix_sha256);
  if (const auto& d = suite.detection) {
    facts.emplace_back("self-test", fmt::format("{} of {} faults", d->killed, d->faults));
  }
  for (const report::DeclaredOp& op : suite.declared) {
    facts.emplace_back("declared op " + op.op, op.sha256);
  }
  if (const auto& w = suite.weights) facts.emplace_back("weights", w->sha256);
}

/// What must be equal; the first that differs is told.
RunFacts facts_of(const report::Report& r) {
  RunFacts facts{{"number of shards", std::to_string(r.run.shard->count)}};
  add_suite(facts, r.suite);
  facts.emplace_back("seed", to_string(r.run.seed));
  facts.emplace_back("strength", r.run.strength);
  facts.emplace_back("level", name(r.run.target));
  facts.emplace_back("plan", r.run.plan);
  facts.emplace_back("backend", r.subject.backend);
  facts.emplace_back("peer", r.peer ? r.peer->backend : "none");
  add_subject(r.subject, "", facts);
  if (r.peer) add_subject(*r.peer, "peer ", facts);
  facts.emplace_back("waivers", std::to_string(r.waivers.size()));
  for (const report::WaiverRow& w : r.waivers) {
    const bool expired = w.state == report::WaiverState::kExpired;
    facts.emplace_back("waiver " + w.cases(), expired ? "expired" : "until " + w.expires);
  }
  std::erase_if(facts, [](const auto& fact) { return is_of_machine(fact.first); });
  return facts;
}

std::string value_in(const RunFacts& facts, const std::string& name) {
  const auto at = std::ranges::find(facts, name, &RunFacts::value_type::first);
  return at == facts.end() ? "none" : at->second;
}

/// The first fact that differs, with both values; empty when none does.
std::string difference(const RunFacts& a, const RunFacts& b) {
  for (const RunFacts* names : {&a, &b}) {
    for (const auto& [name, value] : *names) {
      const std::string in_a = value_in(a, name), in_b = value_in(b, name);
      if (in_a != in_b) return fmt::format("{}: {} and {}", name, in_a, in_b);
    }
  }
  return "";
}

}  // namespace

void check_belong_together(const std::vector<ShardReport>& shards) {
  for (const ShardReport& s : shards) {
    if (s.report.shards.empty()) continue;
    throw UsageError(fmt::format("'{}' is a merged report; name those of the shards themselves",
                                 s.path.string()));
  }
  const ShardReport& first = shards.front();
  if (first.report.suite.version != suite_version()) {
    throw UsageError(fmt::format("'{}' is of suite version {}; merge it with that version, not {}",
                                 first.path.string(),
                                 first.report.suite.version,
                                 suite_version()));
  }
  const RunFacts facts = facts_of(first.report);
  for (std::size_t i = 1; i < shards.size(); ++i) {
    const ShardReport& s = shards[i];
    const std::string differs = difference(facts, facts_of(s.report));
    if (!differs.empty()) {
      throw UsageError(fmt::format("'{}' and '{}' do not belong together; {}",
                                   first.path.string(),
                                   s.path.string(),
                                   differs));
    }
    if (s.report.run.shard->index == shards[i - 1].report.run.shard->index) {
      throw UsageError(fmt::format("shard {} is there twice: '{}' and '{}'",
                                   text_of(*s.report.run.shard),
                                   shards[i - 1].path.string(),
                                   s.path.string()));
    }
  }
}

std::string what_is_missing(const std::vector<ShardReport>& shards) {
  std::vector<std::string> missing;
  report::Shard wanted{.count = shards.front().report.run.shard->count};
  auto next = shards.begin();
  for (; wanted.index <= wanted.count; ++wanted.index) {
    const bool there = next != shards.end() && next->report.run.shard->index == wanted.index;
    if (!there) {
      missing.push_back(fmt::format("shard {} is missing", text_of(wanted)));
      continue;
    }
    const report::Run& run = (next++)->report.run;
    if (run.complete) continue;
    missing.push_back(fmt::format("shard {}: {}", text_of(wanted), run.incomplete_reason));
  }
  return fmt::to_string(fmt::join(missing, "; "));
}

}  // namespace bic
