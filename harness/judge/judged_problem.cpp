#include "harness/judge/judged_problem.h"

namespace bic {
namespace {

Case recall_case(const CaseName& name, const std::string& text) {
  const Relation* relation = find_relation(name.relation);
  Case c{.name = text,
         .relation = relation == nullptr ? kAccuracyRelation : relation->name,
         .level = relation == nullptr ? Level::kRepeatable : relation->level,
         .named = name.trials[0],
         .named_against = {},
         .trial = {},
         .against = {}};
  if (name.trials.size() > 1) c.named_against = name.trials[1];
  return c;
}

}  // namespace

std::unique_ptr<JudgedProblem> recall(report::ProblemRecord record) {
  auto judged = std::make_unique<JudgedProblem>();
  judged->prepared = std::make_unique<Prepared>();
  Prepared& p = *judged->prepared;
  p.telling.told_apart = record.controls.vacuous == 0;
  for (const report::CaseResult& result : record.cases) {
    const CaseName name = parse_case_name(result.case_name);
    if (p.cases.empty()) p.problem = problem_of(name);
    p.cases.push_back(recall_case(name, result.case_name));
  }
  judged->record = std::move(record);
  return judged;
}

}  // namespace bic
