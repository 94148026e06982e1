#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "harness/cli/diff_verb.h"
#include "harness/cli/flags.h"
#include "harness/cli/required_rows.h"
#include "harness/cli/run_flags.h"
#include "harness/plan/plan.h"
#include "harness/run/decoder_suite.h"
#include "harness/run/model_suite.h"
#include "results_schema/case_name.h"
#include "results_schema/compare/difference.h"
#include "results_schema/error.h"
#include "results_schema/op_rows.h"

namespace bic {
namespace {

struct GateFlags {
  RunFlags run;
  std::string baseline, required, markdown;

  void add_to(CLI::App& app) {
    run.add_to(app);
    app.add_option("--baseline", baseline, "report.json to hold the run to, or its folder");
    app.add_option("--required", required, "file of ops and dtypes that must hold (docs/gate.md)");
    app.add_option("--markdown", markdown, "file for a pull request's comment");
  }
};

/// The filters that the baseline's run was given.
SelectionText filters_of(const report::Report& baseline, const std::string& path) {
  if (baseline.run.filtered && baseline.run.filters.empty()) {
    throw UsageError(
        fmt::format("--baseline: '{}' is of a filtered run and does not say by which filters; make "
                    "it anew with this version",
                    path));
  }
  CLI::App app("", "the baseline's filters");
  RunFlags flags;
  flags.add_filters(app);
  parse(app, baseline.run.filters);
  return flags.selection;
}

template <typename Value>
void replace(Value& value, const Value& given) {
  if (!given.empty()) value = given;
}

/// Sizes are the baseline's: cases of others could not be held to it.
template <typename Value>
void refuse_other(const char* flag, const Value& given, const Value& baseline) {
  if (given.empty() || given == baseline) return;
  throw UsageError(fmt::format(
      "{}: a gate runs the baseline's sizes; make a baseline with these, or leave {} out",
      flag,
      flag));
}

/// The baseline's filters, of which those that are given narrow ops, dtypes, relations and cases.
SelectionText selection_of(const SelectionText& given, SelectionText baseline) {
  refuse_other("--dims", given.dims, baseline.dims);
  refuse_other("--batch", given.batches, baseline.batches);
  refuse_other("--shapes", given.shapes, baseline.shapes);
  refuse_other("--suite", given.suites, baseline.suites);
  refuse_other("--preset", given.presets, baseline.presets);
  replace(baseline.ops, given.ops);
  replace(baseline.dtypes, given.dtypes);
  replace(baseline.relations, given.relations);
  replace(baseline.level, given.level);
  replace(baseline.case_pattern, given.case_pattern);
  return baseline;
}

/// What a run does not name it takes from the baseline: seed, strength and filters.
void follow(const report::Report& baseline, GateFlags& flags) {
  RunFlags& run = flags.run;
  run.selection = selection_of(run.selection, filters_of(baseline, flags.baseline));
  if (run.seed.empty()) run.seed = to_string(baseline.run.seed);
  if (run.names_strength()) return;
  run.standard = baseline.run.strength == name(Strength::kStandard);
  run.exhaustive = baseline.run.strength == name(Strength::kExhaustive);
}

/// Which rows and cases of a baseline a narrower run is held to.
class Scope {
 public:
  explicit Scope(const Selection& selection) : selection_(selection) {}

  bool takes(const std::string& op, DType dtype) const {
    const auto named = [&](const OpSpec* o) { return o->name == op; };
    // An op that the suite has lost is not one that the filters leave out.
    const bool is_selected = find_op(op) == nullptr || std::ranges::any_of(selection_.ops, named);
    return is_selected && std::ranges::count(selection_.dtypes, dtype) > 0;
  }

  bool takes(const CaseName& c) const {
    const OpSpec* const op = find_op(c.op);
    if (!takes(c.op, c.dtype)) return false;
    return op == nullptr || selection_.takes(*op, {.name = c.variant}, c.relation, c.dtype);
  }

 private:
  const Selection& selection_;
};

void narrow(report::Report& baseline, const Selection& selection) {
  const Scope scope(selection);
  std::erase_if(baseline.cases, [&](const report::CaseResult& result) {
    return !scope.takes(parse_case_name(result.case_name));
  });
  std::erase_if(baseline.ops,
                [&](const report::OpRow& row) { return !scope.takes(row.op, row.dtype); });
  const auto decoders = decoder_questions(selection, Seed{});
  std::erase_if(baseline.decoder, [&](const report::DecoderRow& row) {
    return std::ranges::none_of(decoders, [&](const report::DecoderQuestion& q) {
      return q.preset == row.question.preset && q.dtype == row.question.dtype;
    });
  });
  const auto models = model_questions(selection);
  std::erase_if(baseline.models, [&](const report::ModelRow& row) {
    return std::ranges::none_of(models, [&](const ModelChoice& q) {
      return q.model == row.model && q.preset == row.preset && q.dtype == name(row.dtype);
    });
  });
}

/// Whether the row may be slower than in the baseline.
bool looks_slower(const report::Report& baseline, const report::OpRow& row) {
  const report::OpRow* const before = find_row(baseline, row.op, row.dtype);
  return before != nullptr && report::may_be_slower(*before, row);
}

/// What a gate found.
struct Found {
  bool red = false;
  bool open = false;  ///< the run was cut, or proves less than the baseline did
};

/// Of the run alone 3, where not enough was proved, and 4 count: what fails as it did before does
/// not.
ExitCode gate_code(int of_run, const Found& found) {
  if (of_run == static_cast<int>(ExitCode::kHarnessError)) return ExitCode::kHarnessError;
  if (found.red) return ExitCode::kDoesNotConform;
  const bool proved = of_run != static_cast<int>(ExitCode::kUnproved) && !found.open;
  return proved ? ExitCode::kConforms : ExitCode::kUnproved;
}

/// A page that cannot be written is a mistake to tell before the run.
void check_place(const std::string& markdown) {
  if (markdown.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(markdown).parent_path();
  std::error_code unreadable;
  if (std::filesystem::is_directory(folder, unreadable)) return;
  throw UsageError(
      fmt::format("--markdown '{}': there is no folder '{}'", markdown, folder.string()));
}

/// Runs, and holds the run's report to the baseline.
int run_gate(const Program& program,
             const GateFlags& flags,
             const report::Report& baseline,
             RunOptions& options) {
  const auto required =
      flags.required.empty() ? std::vector<RequiredRow>() : load_required(flags.required);
  Found found;
  options.measure_again = [&](const report::OpRow& row) { return looks_slower(baseline, row); };
  options.use_report = [&](const report::Report& now) {
    report::Difference difference = report::compare(baseline, now);
    difference.missing = missing_rows(required, now);
    found = {difference.red(), !now.run.complete || !difference.cases.vacuous.empty()};
    fmt::print("\ngate against {}\n", flags.baseline);
    show_difference({baseline, now, difference, program.typed},
                    flags.markdown,
                    (options.out / "report.json").string());
  };
  const int of_run = run_checked(program, options);
  return static_cast<int>(gate_code(of_run, found));
}

}  // namespace

int gate_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Runs, and is red for what is worse than in a baseline (docs/gate.md).",
               "bi-conform gate");
  GateFlags flags;
  flags.add_to(app);
  parse(app, arguments);
  if (flags.baseline.empty()) {
    throw UsageError("--baseline is missing; name the report.json of a run to hold this one to");
  }
  report::Report baseline = load_compared("--baseline", flags.baseline);
  check_place(flags.markdown);
  follow(baseline, flags);
  Arguments typed = arguments;
  typed.insert(typed.begin(), "gate");
  RunOptions options = run_options(program, flags.run, app, typed);
  if (options.shard) {
    throw UsageError(fmt::format(
        "{}: a gate runs the whole plan; run the shards, merge them and use bi-conform diff",
        options.shard->source));
  }
  narrow(baseline, options.selection);
  return run_gate(program, flags, baseline, options);
}

}  // namespace bic
