#include "harness/run/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "harness/fake_worker/behaviour.h"
#include "harness/fake_worker/fake_run.h"
#include "harness/run/run.h"

namespace bic {
namespace {

using testing::HasSubstr;

/// A folder of its own, removed at the end.
class Resume : public testing::Test {
 protected:
  ~Resume() override { std::filesystem::remove_all(folder_); }

  RunOptions options(const std::string& behaviour) {
    RunOptions o;
    o.backend = fake::launch(behaviour, true);
    o.stock = fake::launch("honest", true);
    o.selection = make_selection({.ops = {"mm"},
                                  .dtypes = {"fp32", "fp64"},
                                  .relations = {"alone", "repeat", "accuracy"},
                                  .batches = "1,9,33"});
    o.out = folder_ / std::to_string(folders_++);
    o.timed = false;
    o.command_line = "bi-conform as it was begun";
    return o;
  }

  report::Report run(const RunOptions& o) {
    run_suite(o);
    return report::load_report(o.out / "report.json");
  }

  /// The options of a run whose journal has only the first bytes of another's.
  RunOptions cut(const RunOptions& whole, std::size_t bytes) {
    RunOptions o = whole;
    o.out = folder_ / std::to_string(folders_++);
    o.resume = true;
    std::filesystem::create_directories(o.out);
    std::ofstream(journal_of(o), std::ios::binary) << text_of(whole).substr(0, bytes);
    return o;
  }

  static std::filesystem::path journal_of(const RunOptions& o) { return o.out / "journal.jsonl"; }

  static std::string text_of(const RunOptions& o) {
    std::ifstream file(journal_of(o), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// What a run is refused with.
  static std::string refusal(const RunOptions& o, ExitCode code) {
    try {
      run_suite(o);
      return "accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.what();
      return e.what();
    }
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("bi-conform-resume-test-" + std::to_string(getpid()));
  int folders_ = 0;
};

/// Names of all cases in a journal, those of problems that were dropped too.
std::multiset<std::string> cases_in(const std::filesystem::path& journal) {
  std::multiset<std::string> names;
  for (const report::ProblemRecord& p : report::read_journal(journal).problems) {
    for (const report::CaseResult& c : p.cases) names.insert(c.case_name);
  }
  return names;
}

// Failures that an earlier problem had are not shown again, nor are cases counted twice.
TEST_F(Resume, GivesTheReportOfAnUndisturbedRunFromAnyByte) {
  const RunOptions whole = options("by-batch");
  const report::Report undisturbed = run(whole);
  ASSERT_GE(undisturbed.failures.size(), 2u);
  const std::string text = text_of(whole);
  const std::size_t header = text.find('\n') + 1;
  for (int tenth = 0; tenth <= 10; tenth += 2) {
    const RunOptions o = cut(whole, header + (text.size() - header) * tenth / 10);
    EXPECT_EQ(fake::timeless(run(o)), fake::timeless(undisturbed)) << tenth;
    EXPECT_EQ(cases_in(journal_of(o)), cases_in(journal_of(whole))) << tenth;
  }
}

TEST_F(Resume, OfSeveralWorkersGivesTheSame) {
  const RunOptions whole = options("by-batch");
  const report::Report undisturbed = run(whole);
  RunOptions o = cut(whole, text_of(whole).size() / 3);
  o.jobs = 2;
  EXPECT_EQ(fake::timeless(run(o)), fake::timeless(undisturbed));
  EXPECT_EQ(cases_in(journal_of(o)), cases_in(journal_of(whole)));
}

// Nothing is run: the budget would not allow it.
TEST_F(Resume, TakesEveryProblemOfTheJournalWithoutRunningIt) {
  RunOptions whole = options("by-batch");
  whole.timed = true;
  const report::Report undisturbed = run(whole);
  RunOptions o = cut(whole, text_of(whole).size());
  o.budget = std::chrono::milliseconds(0);
  const report::Report again = run(o);
  EXPECT_EQ(fake::timeless(again), fake::timeless(undisturbed));
  EXPECT_EQ(again.run.started, undisturbed.run.started);
  EXPECT_EQ(again.ops.at(1).throughput->backend_ns, undisturbed.ops.at(1).throughput->backend_ns);
}

TEST_F(Resume, TimesTheBytesThatWereJudgedBefore) {
  RunOptions whole = options("by-batch");
  whole.timed = true;
  const report::Report undisturbed = run(whole);
  const std::string text = text_of(whole);
  const report::Report again = run(cut(whole, text.find("\"throughput\"")));
  ASSERT_TRUE(again.ops.at(0).throughput);
  EXPECT_TRUE(again.ops.at(0).throughput->digest_matches);
  EXPECT_EQ(again.ops.at(0).throughput->shape, undisturbed.ops.at(0).throughput->shape);
}

TEST_F(Resume, GoesOnAfterABudgetAndReplacesTheReport) {
  RunOptions o = options("by-batch");
  o.budget = std::chrono::milliseconds(0);
  EXPECT_FALSE(run(o).run.complete);
  o.resume = true;
  o.budget.reset();
  EXPECT_EQ(fake::timeless(run(o)), fake::timeless(run(options("by-batch"))));
}

TEST_F(Resume, RefusesAnotherRunAndSaysWhatDiffers) {
  const RunOptions whole = options("by-batch");
  run(whole);
  const RunOptions good = cut(whole, text_of(whole).size() / 2);
  RunOptions o = good;
  o.seed = Seed{7};
  EXPECT_THAT(refusal(o, ExitCode::kHarnessError),
              AllOf(HasSubstr("seed is 000000000000b1c0 there and 0000000000000007 now"),
                    HasSubstr("'bi-conform as it was begun --resume ")));
  o = good;
  o.strength = Strength::kStandard;
  EXPECT_THAT(refusal(o, ExitCode::kHarnessError), HasSubstr("strength is quick there and"));
  o = good;
  o.backend = fake::launch("honest", true);
  EXPECT_THAT(refusal(o, ExitCode::kHarnessError),
              HasSubstr("backend is by-batch there and honest now"));
  o = good;
  o.selection.batches = {1, 9};
  EXPECT_THAT(refusal(o, ExitCode::kHarnessError),
              HasSubstr("the plan (ops, sizes, filters, declared files) is "));
  o = good;
  o.shrink = false;
  EXPECT_THAT(refusal(o, ExitCode::kHarnessError), HasSubstr("shrinking is yes there and no now"));
}

/// Writes the journal anew with another fact; "" takes it out.
void change_fact(const std::filesystem::path& path,
                 const std::string& name,
                 const std::string& to) {
  const report::Journal read = report::read_journal(path);
  report::JournalHeader header = read.header;
  header.facts[name] = to;
  if (to.empty()) header.facts.erase(name);
  std::filesystem::remove(path);
  report::JournalWriter writer(path, header);
  for (const report::ProblemRecord& p : read.problems) writer.add(p);
}

TEST_F(Resume, RefusesOtherLibrariesAndAnotherMachine) {
  const RunOptions whole = options("by-batch");
  run(whole);
  for (const auto& [name, value, line] :
       {std::tuple("suite version", "0.0.9", "suite version is 0.0.9 there and "),
        std::tuple("library libkernels.so", "sha256 ab", "is sha256 ab there and none now"),
        std::tuple("cpu", "another", "cpu is another there and "),
        std::tuple("threads", "", "threads is none there and ")}) {
    const RunOptions o = cut(whole, text_of(whole).size() / 2);
    change_fact(journal_of(o), name, value);
    const std::string before = text_of(o);
    EXPECT_THAT(refusal(o, ExitCode::kHarnessError), HasSubstr(line));
    EXPECT_EQ(text_of(o), before) << "a refused journal is not touched";
  }
}

TEST_F(Resume, RefusesWhereThereIsNothingToGoOnWith) {
  RunOptions o = options("honest");
  o.resume = true;
  EXPECT_THAT(refusal(o, ExitCode::kUsage), HasSubstr("there is no journal.jsonl in it"));
  o.resume = false;
  run(o);
  o.resume = true;
  EXPECT_THAT(refusal(o, ExitCode::kUsage), HasSubstr("that run is complete; its report is"));
  std::ofstream(o.out / "report.json") << R"({"complete":false})";
  EXPECT_TRUE(run(o).run.complete) << "cut after its last problem";
}

TEST_F(Resume, RefusesAFolderThatCannotBeReadOrCleared) {
  RunOptions o = options("honest");
  o.resume = true;
  std::filesystem::create_directories(o.out.parent_path());
  std::filesystem::create_directory_symlink(o.out, o.out);
  EXPECT_THAT(refusal(o, ExitCode::kUsage), HasSubstr("cannot be looked into: Too many levels"));
  o.resume = false;
  EXPECT_THAT(refusal(o, ExitCode::kUsage), HasSubstr("--out '" + o.out.string()));
  std::filesystem::remove(o.out);
  std::filesystem::create_directories(journal_of(o) / "kept");
  EXPECT_THAT(refusal(o, ExitCode::kUsage), HasSubstr("cannot be replaced"));
  o.resume = true;
  EXPECT_THAT(refusal(o, ExitCode::kUsage), HasSubstr("cannot read '" + journal_of(o).string()));
}

TEST_F(Resume, RefusesADamagedJournal) {
  const RunOptions whole = options("honest");
  run(whole);
  std::string text = text_of(whole);
  text[text.size() / 2] ^= 1;
  const RunOptions o = cut(whole, 0);
  std::ofstream(journal_of(o), std::ios::binary) << text;
  EXPECT_THAT(refusal(o, ExitCode::kHarnessError),
              AllOf(HasSubstr(journal_of(o).string()), HasSubstr("line ")));
}

TEST_F(Resume, RunsAProblemAgainWhoseWorkerSomethingElseKilled) {
  const std::filesystem::path mark = fake::kKilledOnceMark + std::to_string(getpid());
  std::filesystem::remove(mark);
  const report::Report disturbed = run(options("killed-once-at-33"));
  const report::Report undisturbed = run(options("killed-once-at-33"));
  std::filesystem::remove(mark);
  EXPECT_EQ(disturbed.run.killed_workers, 1);
  EXPECT_EQ(undisturbed.run.killed_workers, 0);
  EXPECT_EQ(undisturbed.totals.cases[Status::kCrash], 0);
  EXPECT_EQ(fake::timeless(disturbed), fake::timeless(undisturbed));
}

TEST_F(Resume, TakesTheThirdKillInOneTrialForACrash) {
  const report::Report killed = run(options("killed-at-33"));
  EXPECT_EQ(killed.verdict.exit_code, 1);
  EXPECT_GT(killed.totals.cases[Status::kCrash], 0);
  EXPECT_GT(killed.run.killed_workers, 0);
  for (const report::CaseResult& c : killed.cases) {
    EXPECT_FALSE(c.status == Status::kPass && c.case_name.find(":B33@") != std::string::npos)
        << c.case_name;
  }
}

}  // namespace
}  // namespace bic
