#include <fmt/format.h>

#include "harness/cli/inform.h"
#include "harness/files/typed.h"
#include "harness/judge/judging.h"
#include "harness/plan/case_check.h"
#include "harness/run/run.h"
#include "results_schema/render/failure_text.h"

namespace bic {

int reproduce(const WorkerLaunch& launch, const std::string& case_text, const std::string& typed) {
  const CaseName name = parse_case_name(case_text);
  check_case(name);
  std::unique_ptr<Prepared> p = prepare_case(name);
  Stage stage(launch);
  const std::optional<Promise> promise = promise_of(stage, name.op, name.dtype);
  if (!promise) {
    fmt::print("status: unsupported\n{} in {}: {}\n",
               name.op,
               bic::name(name.dtype),
               why_unclaimed(stage.hello(), name.op));
    return static_cast<int>(ExitCode::kUnproved);
  }
  const report::CaseResult result = run_and_judge(stage, *p, *promise).cases.front();
  fmt::print("{}\nstatus: {}\ndigest: {}\n",
             failure_text(result, typed, shell_quoted(launch.backend) + launch.flags),
             bic::name(result.status),
             result.digest);
  if (is_red(result.status)) return static_cast<int>(ExitCode::kDoesNotConform);
  const bool proved = result.status == Status::kPass;
  return static_cast<int>(proved ? ExitCode::kConforms : ExitCode::kUnproved);
}

}  // namespace bic
