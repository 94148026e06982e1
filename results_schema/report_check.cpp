#include "results_schema/report_check.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "results_schema/case_name.h"
#include "results_schema/error.h"

namespace bic::report {
namespace {

// Status i has `counted` cases by the place named, and `total` in the totals.
std::string disagreement(std::size_t i,
                         const char* place,
                         std::int64_t counted,
                         std::int64_t total) {
  return "totals: " + std::string(name(static_cast<Status>(i))) + " is " + std::to_string(total) +
         ", but " + place + " give " + std::to_string(counted);
}

// What makes the shrunk case another failure than the one found; empty when nothing does.
std::string shrunk_otherwise(const CaseResult& found, const Failure& failure) {
  const CaseResult& shrunk = failure.shrunk;
  if (!is_red(found.status)) return "of a case that is not red";
  if (shrunk.status != found.status) return "shrank to another status";
  if (!found.reasons.empty() &&
      std::ranges::find(shrunk.reasons, found.reasons[0]) == shrunk.reasons.end()) {
    return "shrank to other reasons";
  }
  if (!failure.note.empty() && shrunk.case_name != found.case_name) return "shrank despite a note";
  try {
    const CaseName a = parse_case_name(found.case_name), b = parse_case_name(shrunk.case_name);
    const bool same = std::tie(a.op, a.variant, a.relation, a.dtype) ==
                      std::tie(b.op, b.variant, b.relation, b.dtype);
    return same ? "" : "shrank to a case of another kind";
  } catch (const UsageError& error) {
    return error.what();
  }
}

bool may_be_left_out(Status s) { return s == Status::kSkipped || s == Status::kUnsupported; }

}  // namespace

std::int64_t Counters::sum() const {
  std::int64_t sum = 0;
  for (const std::int64_t count : by_status) sum += count;
  return sum;
}

std::string check_totals(const Report& report) {
  const Totals& totals = report.totals;
  if (totals.cases.sum() != totals.planned) {
    return "totals: the counters sum to " + std::to_string(totals.cases.sum()) + ", but " +
           std::to_string(totals.planned) + " cases were planned";
  }
  Counters by_op, listed;
  for (const OpRow& op : report.ops) {
    for (std::size_t i = 0; i < kStatusCount; ++i) by_op.by_status[i] += op.cases.by_status[i];
  }
  for (const CaseResult& result : report.cases) ++listed[result.status];
  for (std::size_t i = 0; i < kStatusCount; ++i) {
    const std::int64_t total = totals.cases.by_status[i];
    if (by_op.by_status[i] != total) return disagreement(i, "the ops", by_op.by_status[i], total);
    const std::int64_t count = listed.by_status[i];
    const bool fewer = may_be_left_out(static_cast<Status>(i)) && count < total;
    if (count != total && !fewer) return disagreement(i, "the listed cases", count, total);
  }
  return "";
}

std::string check_verdict(const Report& report) {
  const Verdict& verdict = report.verdict;
  if (verdict.conforms != (verdict.exit_code == static_cast<int>(ExitCode::kConforms))) {
    return "verdict: conforms is " + std::string(verdict.conforms ? "true" : "false") +
           ", but the exit code is " + std::to_string(verdict.exit_code);
  }
  if (verdict.certifiable && report.run.shard) return "verdict: a shard is certifiable";
  for (std::size_t i = 0; i < kStatusCount; ++i) {
    const auto status = static_cast<Status>(i);
    const std::int64_t count = report.totals.cases[status];
    if (verdict.conforms && count > 0 && (is_red(status) || status == Status::kError)) {
      return "verdict: conforms with " + std::to_string(count) + " cases of status " +
             std::string(name(status));
    }
  }
  if (report.run.complete != report.run.incomplete_reason.empty()) {
    return "run: complete is " + std::string(report.run.complete ? "true" : "false") +
           ", but incomplete_reason is '" + report.run.incomplete_reason + "'";
  }
  return "";
}

std::string check_cases(const Report& report) {
  std::unordered_set<std::string_view> seen;
  for (const CaseResult& result : report.cases) {
    if (!seen.insert(result.case_name).second) return "case twice: " + result.case_name;
    if (result.status == Status::kFail && result.reasons.empty()) {
      return "case failed without a reason: " + result.case_name;
    }
    if (result.status == Status::kPass && result.detail) {
      return "case passed, yet has a detail: " + result.case_name;
    }
    try {
      parse_case_name(result.case_name);
    } catch (const UsageError& error) {
      return error.what();
    }
  }
  return "";
}

std::string check_failures(const Report& report) {
  std::unordered_map<std::string_view, const CaseResult*> cases;
  for (const CaseResult& result : report.cases) cases.emplace(result.case_name, &result);
  for (const Failure& failure : report.failures) {
    const auto at = cases.find(failure.found);
    if (at == cases.end()) return "failure was found in no case: " + failure.found;
    const std::string problem = shrunk_otherwise(*at->second, failure);
    if (!problem.empty()) return "failure " + problem + ": " + failure.found;
  }
  return "";
}

std::string check_shard(const Report& report) {
  if (!report.run.shard) return "";
  const Shard& shard = *report.run.shard;
  if (shard.index < 1 || shard.index > shard.count) {
    return "shard: there is no " + std::to_string(shard.index) + " of " +
           std::to_string(shard.count);
  }
  if (shard.rows.size() != report.ops.size()) {
    return "shard: " + std::to_string(shard.rows.size()) + " places for " +
           std::to_string(report.ops.size()) + " rows of ops";
  }
  const bool ascend =
      std::ranges::adjacent_find(shard.rows, std::greater_equal{}) == shard.rows.end();
  return ascend ? "" : "shard: the places of its rows do not ascend";
}

std::string check_report(const Report& report) {
  for (const auto check : {check_totals,
                           check_verdict,
                           check_cases,
                           check_failures,
                           check_shard,
                           check_decoder,
                           check_models,
                           check_waivers}) {
    const std::string problem = check(report);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace bic::report
