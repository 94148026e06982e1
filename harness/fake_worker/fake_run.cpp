#include "harness/fake_worker/fake_run.h"

#include <algorithm>
#include <stdexcept>

#include "harness/judge/verdict.h"

namespace bic::fake {
namespace {

Promise promise_of(const protocol::Hello& hello, const Problem& problem) {
  for (const protocol::ManifestEntry& e : hello.manifest) {
    if (e.op == problem.op->name) return {e.arithmetic.at(problem.dtype), e.own};
  }
  throw std::logic_error("the fake worker lacks an op");
}

}  // namespace

WorkerLaunch launch(const std::string& behaviour, bool isolated) {
  return {.library = BIC_FAKE_WORKER,
          .backend = behaviour,
          .isolated = isolated,
          .program = BIC_PROGRAM};
}

std::unique_ptr<Prepared> first_problem(const SelectionText& text, bool accuracy) {
  const Selection selection = make_selection(text);
  for (const Cell& cell : make_plan(selection, Strength::kQuick)) {
    const auto at = std::ranges::find(cell.problems, accuracy, &ProblemPlan::accuracy);
    if (at != cell.problems.end()) return prepare(*at, selection, Seed{0xb1c0});
  }
  throw std::logic_error("nothing is selected");
}

std::multiset<Status> Judged::statuses(std::string_view relation) const {
  std::multiset<Status> all;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (relation.empty() || prepared->cases[i].relation == relation) all.insert(results[i].status);
  }
  return all;
}

std::vector<report::CaseResult> Judged::with(Status status) const {
  std::vector<report::CaseResult> some;
  std::ranges::copy_if(
      results, std::back_inserter(some), [&](const auto& r) { return r.status == status; });
  return some;
}

std::set<std::string_view> Judged::red_relations() const {
  std::set<std::string_view> red;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (is_red(results[i].status)) red.insert(prepared->cases[i].relation);
  }
  return red;
}

Judged judge_all(std::unique_ptr<Prepared> prepared, const WorkerLaunch& launch) {
  Stage stage(launch);
  const auto results = sweep(stage, *prepared);
  const Promise promise = promise_of(stage.hello(), prepared->problem);
  Judge judge(*prepared, promise, results, stage.isolated(), [&](const PlannedTrial& t) {
    return stage.run(t);
  });
  Judged judged;
  for (const Case& c : prepared->cases) judged.results.push_back(judge.judge(c));
  note_where_it_starts(*prepared, judged.results);
  judged.prepared = std::move(prepared);
  return judged;
}

std::string timeless(report::Report report) {
  report.run.duration_ns = 0;
  report.run.started = "2000-01-01T00:00:00Z";
  report.run.command_line.clear();
  report.run.killed_workers = 0;
  report.verdict = make_verdict(report, report.run.target, report.verdict.ops_total);
  for (report::OpRow& row : report.ops) row.throughput.reset();
  return report::write_report(report);
}

}  // namespace bic::fake
