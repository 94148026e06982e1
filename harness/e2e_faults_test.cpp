// Runs the built program against every backend that is broken on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "adapters/faults/catalog.h"
#include "results_schema/case_name.h"
#include "results_schema/report.h"

namespace bic {
namespace faults {

/// What GoogleTest prints beside a test's name; else it prints bytes, which change with each run.
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

}  // namespace faults

namespace {

using faults::Fault;

/// A folder of its own, removed at the end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::path(testing::TempDir()) /
              ("bi-conform-" + name + "-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Ended {
  int exit_code = -1;
  std::string words;  ///< what the program printed
  report::Report report;
};

Ended run_program(const std::string& backend, const std::string& flags, const Folder& out) {
  const std::filesystem::path words = out.path() / "words";
  const std::string command = std::string(BIC_PROGRAM) + " --backend " + backend + " --no-perf" +
                              flags + " --out " + out.path().string() + " > " + words.string() +
                              " 2>&1";
  const int status = std::system(command.c_str());
  Ended ended;
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::ostringstream text;
  text << command << '\n' << std::ifstream(words).rdbuf();
  ended.words = text.str();
  const std::filesystem::path report = out.path() / "report.json";
  if (std::filesystem::exists(report)) ended.report = report::load_report(report);
  return ended;
}

/// The dtypes in which a fault is tried; fp32, where sums show their order best, if nothing else.
std::vector<std::string> dtypes_of(const Fault& fault) {
  if (fault.name == "wrong-dtype" || fault.name == "refuses") return {"bf16"};
  // Scans of fp32 sum in fp64, so that no order of theirs shows.
  if (fault.name == "scan-tail") return {"fp64"};
  if (fault.name == "halves-of-k") return {"fp32", "bf16"};
  return {"fp32"};
}

std::string flags_of(const Fault& fault) {
  std::string flags;
  for (std::string_view op : fault.ops) flags += " --op " + std::string(op);
  for (const std::string& dtype : dtypes_of(fault)) flags += " --dtype " + dtype;
  // A fault of values or of conduct is red wherever it is looked for, which takes its time.
  for (std::string_view relation : fault.relations) {
    if (!fault.keeps_accuracy) flags += " --relation " + std::string(relation);
  }
  // Waiting is what a hang costs: a few problems tell.
  if (fault.status == Status::kTimeout) flags += " --timeout 2s --budget 10s";
  return flags;
}

bool has(const report::CaseResult& c, Reason reason) {
  return std::ranges::find(c.reasons, reason) != c.reasons.end();
}

/// Whether `c` is a case of `op` and `relation` with the fault's status and reason.
bool shows(const report::CaseResult& c,
           const Fault& fault,
           std::string_view op,
           std::string_view relation) {
  const CaseName name = parse_case_name(c.case_name);
  return name.op == op && name.relation == relation && c.status == fault.status &&
         (!fault.reason || has(c, *fault.reason));
}

bool any_shows(const Ended& ended,
               const Fault& fault,
               std::string_view op,
               std::string_view relation) {
  return std::ranges::any_of(ended.report.cases,
                             [&](const auto& c) { return shows(c, fault, op, relation); });
}

class Program : public testing::TestWithParam<Fault> {};

TEST_P(Program, SeesTheFaultAsTheCatalogSays) {
  const Fault& fault = GetParam();
  const Folder out(std::string(fault.name));
  const Ended ended = run_program("fault:" + std::string(fault.name), flags_of(fault), out);
  ASSERT_EQ(ended.exit_code, 1) << ended.words;
  for (std::string_view op : fault.ops) {
    EXPECT_TRUE(std::ranges::any_of(
        fault.relations,
        [&](std::string_view relation) { return any_shows(ended, fault, op, relation); }))
        << fault.name << " stays unseen on " << op;
  }
  for (std::string_view relation : fault.relations) {
    EXPECT_TRUE(std::ranges::any_of(
        fault.ops, [&](std::string_view op) { return any_shows(ended, fault, op, relation); }))
        << relation << " sees nothing of " << fault.name;
  }
  for (const report::CaseResult& c : ended.report.cases) {
    EXPECT_FALSE(fault.keeps_accuracy && has(c, Reason::kAccuracy)) << c.case_name;
  }
}

std::string name_of(const testing::TestParamInfo<Fault>& info) {
  std::string name(info.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Fault,
                         Program,
                         testing::ValuesIn(faults::catalog().begin(), faults::catalog().end()),
                         name_of);

// With these seeds three samples under test saw nothing: each showed the order too rarely.
TEST(Bfloat16, ShowsAnotherOrderWhateverTheSeed) {
  const Fault& fault = *faults::find("split-by-batch");
  for (const char* seed : {"1", "4"}) {
    const Folder out("seed");
    const Ended ended = run_program("fault:split-by-batch",
                                    " --op softmax --op layer_norm --dtype bf16 --relation alone "
                                    "--seed " +
                                        std::string(seed),
                                    out);
    for (std::string_view op : {"softmax", "layer_norm"}) {
      EXPECT_TRUE(any_shows(ended, fault, op, "alone")) << op << " with seed " << seed;
    }
  }
}

TEST(SoundBackend, ShowsNoFault) {
  const Folder out("sound");
  const Ended ended = run_program("libtorch-invariant", " --dtype fp32 --dtype bf16", out);
  EXPECT_EQ(ended.exit_code, 0) << ended.words;
}

}  // namespace
}  // namespace bic
