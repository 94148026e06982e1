#include "harness/run/plan_digest.h"

#include <fmt/format.h>

#include "harness/judge/decoder_judge.h"
#include "harness/run/decoder_suite.h"
#include "harness/run/model_suite.h"
#include "harness/workers/environment.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

/// The relations of which the problem has cases.
std::vector<std::string_view> relations_of(const ProblemPlan& plan, const Selection& selection) {
  if (plan.accuracy) return {kAccuracyRelation};
  std::vector<std::string_view> names;
  for (const Relation* r : selection.relations) {
    if (has_cases(plan, *r, selection)) names.push_back(r->name);
  }
  return names;
}

std::string problem_text(const ProblemPlan& plan, const Selection& selection, Seed seed) {
  const Problem problem = draw(plan, seed, selection.dims, 0);
  // A case string holds all of a problem; relation and trial are only there to complete it.
  return fmt::format("{} batches {} relations {}\n",
                     to_string(case_name(problem, kAccuracyRelation, {Trial{}}, {})),
                     fmt::join(batches_of(plan, problem, selection), ","),
                     fmt::join(relations_of(plan, selection), ","));
}

}  // namespace

std::string plan_digest(const std::vector<Cell>& cells,
                        const Selection& selection,
                        Strength strength,
                        Seed seed) {
  std::string text = fmt::format("bi-conform {} seed {} {} to {}\n",
                                 suite_version(),
                                 to_string(seed),
                                 name(strength),
                                 name(selection.target));
  for (const Cell& cell : cells) {
    // What the suite's version does not say.
    if (const std::string& file = cell.op->declared_sha256; !file.empty()) text += file + "\n";
    for (const ProblemPlan& plan : cell.problems) text += problem_text(plan, selection, seed);
  }
  for (const report::DecoderQuestion& q : decoder_questions(selection, seed)) {
    text += fmt::format("decoder {} {} of {} among {}, tokens {}\n",
                        text_of(q),
                        to_string(q.seed),
                        q.requests,
                        q.others,
                        q.new_tokens);
  }
  for (const ModelChoice& q : model_questions(selection)) {
    text += fmt::format("model {} {} {}\n", q.model, q.preset, q.dtype);
  }
  return sha256_hex(text);
}

}  // namespace bic
