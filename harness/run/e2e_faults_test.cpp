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

#include "adapters/faults/catalog.h"

namespace bic {
namespace faults {

/// What GoogleTest prints beside a test's name; else it prints bytes, which change with each run.
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

}  // namespace faults

namespace {

using faults::Fault;
using testing::HasSubstr;

struct Ended {
  int exit_code = -1;
  std::string words;  ///< the command and what it printed
};

/// Runs the program in a folder that is removed afterwards.
Ended run_program(const std::string& arguments) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("bi-conform-faults-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path words = folder / "words";
  const std::string command = std::string(BIC_PROGRAM) + " " + arguments + " --out " +
                              folder.string() + " > " + words.string() + " 2>&1";
  const int status = std::system(command.c_str());
  std::ostringstream text;
  text << command << '\n' << std::ifstream(words).rdbuf();
  std::filesystem::remove_all(folder);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text.str()};
}

class Selftest : public testing::TestWithParam<Fault> {};

/// On every op, by every relation, and with its accuracy held where the catalog says so.
TEST_P(Selftest, SeesTheFaultAsTheCatalogSays) {
  const Ended ended = run_program("selftest --full --fault " + std::string(GetParam().name));
  EXPECT_EQ(ended.exit_code, 0) << ended.words;
  EXPECT_THAT(ended.words, HasSubstr("killed 1 of 1 on"));
}

std::string name_of(const testing::TestParamInfo<Fault>& info) {
  std::string name(info.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Fault,
                         Selftest,
                         testing::ValuesIn(faults::catalog().begin(), faults::catalog().end()),
                         name_of);

/// A relation or a law, and a fault that nothing else sees.
struct Removal {
  std::string removed, fault;
};

void PrintTo(const Removal& r, std::ostream* out) { *out << r.removed; }

class Without : public testing::TestWithParam<Removal> {};

TEST_P(Without, TheFaultSurvives) {
  const Ended ended =
      run_program("selftest --fault " + GetParam().fault + " --without " + GetParam().removed);
  EXPECT_EQ(ended.exit_code, 1) << ended.words;
  EXPECT_THAT(ended.words, HasSubstr("SURVIVES " + GetParam().fault));
}

INSTANTIATE_TEST_SUITE_P(Removal,
                         Without,
                         testing::Values(Removal{"chunk", "decode-order"},
                                         Removal{"rank", "vector-order"},
                                         Removal{"zeropad", "halves-of-k"},
                                         Removal{"forms", "given-output"}),
                         [](const auto& info) { return info.param.removed; });

// With these seeds three samples under test saw nothing: each showed the order too rarely.
TEST(Bfloat16, ShowsAnotherOrderWhateverTheSeed) {
  for (const char* seed : {"1", "4"}) {
    const Ended ended = run_program(
        "selftest --fault split-by-batch --op softmax --op layer_norm --seed " + std::string(seed));
    EXPECT_EQ(ended.exit_code, 0) << ended.words;
  }
}

TEST(SoundBackend, ShowsNoFault) {
  const Ended ended =
      run_program("--backend libtorch-invariant --no-perf --dtype fp32 --dtype bf16");
  EXPECT_EQ(ended.exit_code, 0) << ended.words;
}

}  // namespace
}  // namespace bic
