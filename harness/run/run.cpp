#include "harness/run/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/files/text_file.h"
#include "harness/files/typed.h"
#include "harness/judge/control_tally.h"
#include "harness/judge/levels.h"
#include "harness/judge/verdict.h"
#include "harness/plan/case_check.h"
#include "harness/run/console.h"
#include "harness/run/decoder_suite.h"
#include "harness/run/jobs.h"
#include "harness/run/model_suite.h"
#include "harness/run/row_timer.h"
#include "harness/run/run_facts.h"
#include "harness/run/shard_plan.h"
#include "harness/workers/environment.h"
#include "harness/workers/interrupt.h"
#include "results_schema/render/failure_text.h"

namespace bic {
namespace {

/// Before a worker is started: what can be refused of a run that is resumed.
RunFacts checked_facts(const RunOptions& options, const RunPlan& plan, const RunJournal& journal) {
  RunFacts facts = asked_facts(options, plan.digest);
  journal.check(facts, false);
  journal.refuse_complete(plan.problems(), plan.decoders.size());
  return facts;
}

/// The state of a run.
class Runner {
 public:
  explicit Runner(const RunOptions& options)
      : options_(options),
        plan_(plan_run(options.selection, options.strength, options.seed, options.shard)),
        problems_(plan_.problems()),
        journal_(options.out, options.resume),
        facts_(checked_facts(options, plan_, journal_)),
        console_(stdout, options.typed, options.backend.flags),
        waivers_(options.waivers),
        started_(std::chrono::steady_clock::now()),
        studies_(options.backend),
        jobs_({plan_.cells,
               options.selection,
               options.seed,
               options.backend,
               [this] { return late(); },
               options.shrink,
               journal_},
              options.backend.isolated ? options.jobs : 1),
        timer_(options, journal_) {}

  int run();

 private:
  void describe();
  void begin_journal();
  int judge_all();
  void run_op(std::size_t first, std::size_t last);
  std::optional<report::OpRow> run_cell(std::size_t cell);
  void take(const JudgedProblem& judged, Evidence& evidence);
  bool late() const;
  void ask_decoders();
  void ask_models();
  std::string cut_text() const;
  void add(const report::Failure& failure);
  void settle();
  void finish();

  const RunOptions& options_;
  const RunPlan plan_;
  const std::size_t problems_;
  RunJournal journal_;
  RunFacts facts_;
  Console console_;
  Waivers waivers_;
  std::vector<report::Failure> waived_;
  std::chrono::steady_clock::time_point started_;
  report::Report report_;
  std::size_t done_ = 0;
  std::size_t models_ = 0;  ///< to be looked into
  StudyWorker studies_;     ///< the backend, asked of whole models
  Jobs jobs_;               ///< its threads end before what they use
  RowTimer timer_;
};

int Runner::run() {
  describe();
  begin_journal();
  started_ = std::chrono::steady_clock::now();
  if (journal_.resumed()) {
    console_.note(fmt::format("resumed: {} of {} problems are in the journal of {}",
                              journal_.problems(),
                              problems_,
                              options_.out.string()));
  }
  if (journal_.replaces_cut_run()) {
    console_.note(
        fmt::format("begins anew: a run that was cut lay in {0}; --resume {0} would have "
                    "gone on with it",
                    options_.out.string()));
  }
  console_.header(report_);
  try {
    return judge_all();
  } catch (const Error&) {
    console_.note("go on with: " + options_.resume_command);
    throw;
  }
}

void Runner::begin_journal() {
  std::ranges::copy(found_facts(report_), std::back_inserter(facts_));
  journal_.check(facts_, true);
  journal_.begin({.facts = {facts_.begin(), facts_.end()},
                  .command_line = options_.command_line,
                  .started = report_.run.started,
                  .detection = options_.detection});
  report_.run.started = journal_.header().started;
  report_.suite.detection = journal_.header().detection;
}

int Runner::judge_all() {
  jobs_.start();
  // When the run is cut, what the jobs had judged by then is still taken.
  const std::vector<Cell>& cells = plan_.cells;
  for (std::size_t first = 0, last = 0; first < cells.size(); first = last) {
    while (last < cells.size() && cells[last].op == cells[first].op) ++last;
    run_op(first, last);
  }
  ask_decoders();
  ask_models();
  finish();
  const auto path = options_.out / "report.json";
  report::save_report(report_, path);
  for (const report::Format format : options_.formats) {
    write_text(options_.out / file_name(format), rendered(report_, format));
  }
  console_.verdict(report_, path.string());
  if (!report_.run.complete) console_.note("go on with: " + options_.resume_command);
  if (options_.use_report) options_.use_report(report_);
  return report_.verdict.exit_code;
}

void Runner::describe() {
  report_.suite = describe_suite(options_);
  report_.subject = describe_subject(jobs_.hello());
  if (const auto* peer = jobs_.peer_hello()) report_.peer = describe_subject(*peer);
  report_.environment = describe_environment(jobs_.hello().default_threads);
  report_.run = describe_run(options_, plan_.digest);
  report_.coverage.planned = static_cast<std::int64_t>(problems_);
}

/// Whether the run is to end, by its budget or by an interrupt. Safe from any thread.
bool Runner::late() const {
  return interrupted() ||
         (options_.budget && std::chrono::steady_clock::now() - started_ > *options_.budget);
}

/// All dtypes of an op; they are timed together, while no other problem is run.
void Runner::run_op(std::size_t first, std::size_t last) {
  std::map<std::size_t, report::OpRow> rows;
  for (std::size_t cell = first; cell < last; ++cell) {
    if (auto row = run_cell(cell)) rows.emplace(cell, std::move(*row));
  }
  timer_.time(plan_.cells, jobs_, !late(), rows);
  for (auto& [cell, row] : rows) {
    console_.row(row);
    report_.ops.push_back(std::move(row));
    if (report_.run.shard) {
      report_.run.shard->rows.push_back(static_cast<std::int64_t>(plan_.cells[cell].place));
    }
  }
}

/// The row of a cell; empty when none of its problems was judged.
std::optional<report::OpRow> Runner::run_cell(std::size_t number) {
  const Cell& cell = plan_.cells[number];
  Evidence evidence(cell);
  const auto show = [&] {
    console_.progress(done_,
                      problems_,
                      report_.totals.planned,
                      fmt::format("{} {}", cell.op->name, name(cell.dtype)));
  };
  show();
  const std::size_t before = done_;
  while (auto judged = jobs_.next(number)) {
    ++done_;
    take(*judged, evidence);
    timer_.offer(number, std::move(*judged));
    show();
  }
  if (done_ == before) return {};
  report::OpRow row = evidence.row(options_.selection.target);
  if (!promise_of(jobs_.hello(), cell.op->name, cell.dtype)) {
    row.why = why_unclaimed(jobs_.hello(), cell.op->name);
  }
  return row;
}

void Runner::take(const JudgedProblem& judged, Evidence& evidence) {
  const Prepared& p = *judged.prepared;
  const report::ProblemRecord& record = judged.record;
  add_controls(report_.controls, record.controls);
  if (record.cases.empty()) return;
  report_.totals.planned += static_cast<std::int64_t>(record.cases.size());
  const std::vector<report::CaseResult> cases = waivers_.applied(record.cases);
  evidence.add(p, cases);
  evidence.note_error(record.worst_error_ppm);
  for (const report::CaseResult& result : cases) ++report_.totals.cases[result.status];
  for (const report::Failure& failure : record.failures) {
    if (waivers_.cover(failure.found)) {
      waived_.push_back(failure);
    } else {
      add(failure);
    }
  }
  report_.cases.insert(report_.cases.end(), cases.begin(), cases.end());
  report_.run.killed_workers += record.killed_workers;
  ++report_.coverage.executed;
  report_.coverage.counted += !p.problem.accuracy && p.telling.told_apart;
}

void Runner::add(const report::Failure& failure) {
  console_.failure(failure);
  report_.failures.push_back(failure);
}

void Runner::settle() {
  report_.waivers = waivers_.rows();
  const report::Run& run = report_.run;
  settle_waivers(report_, run.complete && !run.shard && !run.filtered);
  for (const report::Failure& failure : behind_waivers(report_, waived_)) add(failure);
}

void Runner::ask_decoders() {
  DecoderSuite suite(studies_, jobs_.hello(), journal_);
  suite.ask(
      plan_.decoders,
      [this] { return late(); },
      [this](report::DecoderRow row) {
        report_.decoder.push_back(waivers_.applied(std::move(row)));
        report_.run.killed_workers += report_.decoder.back().killed_workers;
        console_.row(report_.decoder.back());
      });
}

void Runner::ask_models() {
  if (!options_.reference) return;
  ModelSuite suite(studies_, *options_.reference, jobs_.hello(), options_.weights);
  const std::vector<ModelChoice> asked = suite.asked(plan_.models);
  models_ = asked.size();
  const std::int64_t killed = studies_.killed();
  suite.ask(
      asked,
      [this] { return late(); },
      [this](report::ModelRow row) {
        report_.models.push_back(waivers_.applied(std::move(row)));
        console_.row(report_.models.back());
      });
  report_.run.killed_workers += studies_.killed() - killed;
}

/// Where the run was cut; empty when it was not.
std::string Runner::cut_text() const {
  const std::size_t asked = report_.decoder.size(), decoders = plan_.decoders.size();
  const std::size_t models = report_.models.size();
  if (done_ == problems_ && asked == decoders && models == models_) return "";
  std::string text = interrupted() ? "interrupted" : "out of budget";
  text += fmt::format(" after {} of {} problems", done_, problems_);
  if (decoders > 0) text += fmt::format(" and {} of {} decoders", asked, decoders);
  return models_ == 0 ? text : text + fmt::format(", {} of {} models", models, models_);
}

void Runner::finish() {
  report_.run.incomplete_reason = cut_text();
  report_.run.complete = report_.run.incomplete_reason.empty();
  report_.run.duration_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::steady_clock::now() - started_)
                                .count();
  report_.coverage.required = report_.coverage.planned;
  settle();
  report_.verdict = make_verdict(
      report_, options_.selection.target, static_cast<std::int64_t>(registry().size()));
}

}  // namespace

int run_suite(const RunOptions& options) { return Runner(options).run(); }

}  // namespace bic
