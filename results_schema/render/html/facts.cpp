#include <fmt/format.h>

#include <algorithm>

#include "results_schema/render/html/view.h"

namespace bic::report::page {
namespace {

class Facts {
 public:
  void add(const std::string& key, const std::string& value) {
    if (!value.empty()) facts_.push_back(object{{"key", key}, {"value", value}});
  }
  const list& view() const { return facts_; }

 private:
  list facts_;
};

void add_run(const Report& report, Facts& facts) {
  const Run& run = report.run;
  facts.add("command line", run.command_line);
  facts.add("started", run.started);
  facts.add("took", fmt::format("{:.1f} s", static_cast<double>(run.duration_ns) / 1e9));
  facts.add("seed", to_string(run.seed));
  facts.add("strength", run.strength + (run.filtered ? ", filtered" : ""));
  facts.add("part of the suite", run.suite);
  if (run.shard) facts.add("shard", fmt::format("{} of {}", run.shard->index, run.shard->count));
  if (!report.shards.empty()) {
    facts.add("merged from", fmt::format("{} shards", report.shards.size()));
  }
  facts.add("plan (SHA-256)", run.plan);
  facts.add("not certifiable because of",
            fmt::format("{}", fmt::join(report.verdict.why_not_certifiable, ", ")));
}

void add_place(const Report& report, Facts& facts) {
  const Environment& e = report.environment;
  facts.add("processor", fmt::format("{}, {} cores, {} threads", e.cpu, e.cores, e.threads));
  facts.add("instruction sets", e.isa);
  facts.add("system", e.os + (e.kernel.empty() ? "" : ", kernel " + e.kernel));
  for (const auto& [key, value] : e.variables) facts.add(key, value);
  for (const auto& [key, value] : report.subject.fingerprint) facts.add("backend: " + key, value);
}

void add_evidence(const Report& report, Facts& facts) {
  const Coverage& c = report.coverage;
  facts.add("problems",
            fmt::format("{} planned, {} run, {} of them evidence",
                        count_text(c.planned),
                        count_text(c.executed),
                        count_text(c.counted)));
  if (const auto& d = report.suite.detection) {
    facts.add("planted faults seen before the run", fmt::format("{} of {}", d->killed, d->faults));
  }
  for (const DeclaredOp& op : report.suite.declared) facts.add("declared op " + op.op, op.sha256);
  facts.add("what this version sees (SHA-256)", report.suite.kill_matrix_sha256);
  facts.add("program (SHA-256)", report.suite.program_sha256);
}

list libraries(const Report& report) {
  list libraries;
  for (const Library& l : report.subject.libraries) {
    libraries.push_back(
        object{{"name", l.name}, {"bytes", count_text(l.bytes)}, {"sha256", l.sha256}});
  }
  return libraries;
}

const char* state_of(Status status) {
  return status == Status::kPass ? "ok" : is_red(status) ? "red" : "weak";
}

object model_view(const std::string& what,
                  const std::string& preset,
                  DType dtype,
                  Status status,
                  const std::string& message) {
  return {{"what", what},
          {"preset", preset},
          {"dtype", std::string(name(dtype))},
          {"state", state_of(status)},
          {"status", std::string(name(status))},
          {"message", message}};
}

/// What was judged beside the cases.
list models(const Report& report) {
  list rows;
  for (const DecoderRow& r : report.decoder) {
    rows.push_back(model_view(
        "decoder at temperature 0", r.question.preset, r.question.dtype, r.status, r.message));
  }
  for (const ModelRow& r : report.models) {
    rows.push_back(
        model_view(r.model + ", tensor by tensor", r.preset, r.dtype, r.status, r.message));
  }
  return rows;
}

list waivers(const Report& report) {
  list rows;
  for (const WaiverRow& w : report.waivers) {
    rows.push_back(object{{"cases", w.cases()},
                          {"state", std::string(name(w.state))},
                          {"waived", count_text(w.waived)},
                          {"reason", w.reason},
                          {"owner", w.owner},
                          {"expires", w.expires}});
  }
  return rows;
}

}  // namespace

void add_facts(const Report& report, data& page) {
  Facts facts;
  add_run(report, facts);
  add_place(report, facts);
  add_evidence(report, facts);
  page.set("facts", facts.view());
  page.set("has_libraries", !report.subject.libraries.empty());
  page.set("libraries", libraries(report));
  page.set("has_models", !report.decoder.empty() || !report.models.empty());
  page.set("models", models(report));
  page.set("has_waivers", !report.waivers.empty());
  page.set("waivers", waivers(report));
}

}  // namespace bic::report::page
