#include "harness/shrink/shrink.h"

#include <algorithm>

#include "generators/dims.h"
#include "harness/shrink/shrink_facts.h"
#include "harness/shrink/shrink_search.h"

namespace bic {
namespace {

/// Why a failure is not made smaller, by its status; empty when it may be.
std::string reason_to_keep(const report::CaseResult& found) {
  if (found.status == Status::kUnstable) return "it differs between identical runs";
  const bool thrown = found.reasons == std::vector{Reason::kException};
  if (found.status == Status::kFail || found.status == Status::kRefused || thrown) return "";
  return "each trial of it may cost a worker";
}

/// The failure as it was found, with what the run itself saw on its problem.
report::Failure as_found(const Prepared& prepared,
                         const std::vector<report::CaseResult>& results,
                         const report::CaseResult& found,
                         const std::string& note) {
  const SampleId sample = parse_case_name(found.case_name).trials[0].sample;
  return {.found = found.case_name,
          .shrunk = found,
          .trials = 0,
          .note = note,
          .classes = bit_classes(prepared, results, sample),
          .relations = outcomes(prepared, results)};
}

/// The batch sizes that show where a failure starts: those of the run and the case's own.
std::vector<std::int64_t> sizes_around(const Prepared& prepared, const CaseName& name) {
  if (!has_batch(*prepared.problem.variant)) return {1};
  std::vector<std::int64_t> sizes = prepared.batches;
  if (prepared.problem.accuracy) sizes.assign(batch_sizes().begin(), batch_sizes().end());
  for (const Trial& t : name.trials) sizes.push_back(t.batch);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// Reasons that lie between two trials, so that it matters which.
bool is_between_trials(const std::optional<Reason>& reason) {
  return reason == Reason::kBits || reason == Reason::kNanBits || reason == Reason::kNanLeak;
}

}  // namespace

report::Failure Shrinker::shrink(const Prepared& prepared,
                                 const std::vector<report::CaseResult>& results,
                                 const report::CaseResult& found,
                                 const Promise& promise) {
  report::Failure failure = as_found(prepared, results, found, reason_to_keep(found));
  if (!failure.note.empty()) return failure;
  try {
    if (stage_ == nullptr) stage_ = std::make_unique<Stage>(launch_);
    make_smaller(prepared, found, promise, failure);
  } catch (const Error& e) {
    failure = as_found(prepared, results, found, std::string("not made smaller: ") + e.what());
  }
  return failure;
}

void Shrinker::make_smaller(const Prepared& prepared,
                            const report::CaseResult& found,
                            const Promise& promise,
                            report::Failure& failure) {
  ShrinkSearch search(*stage_, promise, found, kMostShrinkTrials);
  search.run();
  failure.trials = search.trials();
  const report::CaseResult again = judge_anew(search.smallest(), promise);
  if (fails_alike(again, found)) {
    failure.shrunk = again;
    describe(search.smallest(), sizes_around(prepared, search.smallest()), promise, failure);
  } else {
    failure.note = search.failed_alone() ? "what is smaller does not fail in a new worker"
                                         : "it does not fail again when it is run alone";
  }
}

/// As `repro` judges it.
report::CaseResult Shrinker::judge_anew(const CaseName& name, const Promise& promise) {
  Stage stage(launch_);
  const auto p = prepare_case(name);
  return run_and_judge(stage, *p, promise).cases[0];
}

void Shrinker::describe(const CaseName& name,
                        std::vector<std::int64_t> batches,
                        const Promise& promise,
                        report::Failure& failure) {
  const auto p = prepare_around(name, std::move(batches));
  if (p->cases.empty()) return;
  const std::vector<report::CaseResult> results = run_and_judge(*stage_, *p, promise).cases;
  failure.classes = bit_classes(*p, results, name.trials[0].sample);
  failure.relations = outcomes(*p, results);
  const bool by_batch = name.relation == "alone" || name.relation == "twins";
  if (by_batch && failure.shrunk.detail && differs_in_bits(failure.shrunk)) {
    failure.shrunk.detail->starts_at_batch = first_to_differ(failure.classes);
  }
}

Failures::Kind Failures::kind_of(const report::CaseResult& found, std::string_view relation) {
  std::optional<Reason> reason;
  if (!found.reasons.empty()) reason = found.reasons[0];
  return {found.status, reason, is_between_trials(reason) ? std::string(relation) : ""};
}

/// The relations that fail on the problem of a smaller failure are known with it.
void Failures::add_relations(const Kind& kind, const report::Failure& failure) {
  const auto& [status, reason, relation] = kind;
  if (relation.empty() || !failure.note.empty()) return;
  for (const report::RelationOutcome& r : failure.relations) {
    if (is_red(r.status)) known_.insert({status, reason, r.relation});
  }
}

std::vector<report::Failure> Failures::of(const Prepared& prepared,
                                          const std::vector<report::CaseResult>& results,
                                          const Promise& promise) {
  std::vector<report::Failure> all;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const report::CaseResult& found = results[i];
    if (!is_red(found.status)) continue;
    const Kind kind = kind_of(found, prepared.cases[i].relation);
    if (!known_.insert(kind).second) continue;
    all.push_back(failure_of(prepared, results, found, promise));
    add_relations(kind, all.back());
  }
  return all;
}

void Failures::recall(const Prepared& prepared,
                      const std::vector<report::CaseResult>& results,
                      const std::vector<report::Failure>& failures) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const report::CaseResult& found = results[i];
    if (!is_red(found.status)) continue;
    const Kind kind = kind_of(found, prepared.cases[i].relation);
    known_.insert(kind);
    for (const report::Failure& f : failures) {
      if (f.found == found.case_name) add_relations(kind, f);
    }
  }
}

report::Failure Failures::failure_of(const Prepared& prepared,
                                     const std::vector<report::CaseResult>& results,
                                     const report::CaseResult& found,
                                     const Promise& promise) {
  if (shrinker_ == nullptr)
    return as_found(prepared, results, found, "nothing smaller was asked for");
  if (stopped_()) {
    cut_ = true;
    return as_found(prepared, results, found, "the run was cut");
  }
  return shrinker_->shrink(prepared, results, found, promise);
}

}  // namespace bic
