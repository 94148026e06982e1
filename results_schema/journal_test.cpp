#include "results_schema/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

#include "results_schema/error.h"
#include "results_schema/report_example.h"

namespace bic::report {
namespace {

using testing::HasSubstr;

/// Two cases, and everything else that a problem can leave.
ProblemRecord full_problem() {
  return {.op = "mm",
          .dtype = DType::kBFloat16,
          .number = 0,
          .cases = {example_pass(), example_fail()},
          .controls = {.searched = 7,
                       .drawn = 1,
                       .redrawn = 2,
                       .vacuous = 0,
                       .laws = {{Law::kCancel, 1, 0, 512, {{"halves", 500}}}}},
          .worst_error_ppm = 130000,
          .timed = TimedOutput{std::string(64, 'a'), 4096},
          .failures = {example_failure()},
          .killed_workers = 1};
}

ProblemRecord empty_problem() { return {.op = "mm", .dtype = DType::kBFloat16, .number = 1}; }

class JournalFile : public testing::Test {
 protected:
  JournalFile() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "journal_test_" + test->name();
    std::filesystem::remove(path_);
  }
  ~JournalFile() override { std::filesystem::remove(path_); }

  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void replace_content(const std::string& text) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
  }

  // A header, two cases and their end, a timing, the end of a problem without cases, a decoder.
  std::string write_seven_lines() const {
    JournalWriter writer(path_, header_);
    writer.add(full_problem());
    writer.add(RowTiming{"mm", DType::kBFloat16, *example_op().throughput});
    writer.add(empty_problem());
    writer.add(example_decoder());
    return content();
  }

  std::string refusal() const {
    try {
      read_journal(path_);
      return "accepted";
    } catch (const HarnessError& error) {
      return error.what();
    }
  }

  std::filesystem::path path_;
  const JournalHeader header_{.facts = {{"seed", "7"}, {"backend", "libtorch"}},
                              .command_line = "bi-conform --seed 7",
                              .started = "2026-03-01T09:30:00Z",
                              .detection = Detection{65, 66}};
};

/// Byte after the line with that number, from 1.
std::size_t end_of_line(const std::string& text, int line) {
  std::size_t end = 0;
  while (line-- > 0) end = text.find('\n', end) + 1;
  return end;
}

TEST_F(JournalFile, ReadsWhatWasWritten) {
  const std::string text = write_seven_lines();
  const Journal journal = read_journal(path_);
  EXPECT_EQ(journal.header.facts, header_.facts);
  EXPECT_EQ(journal.header.command_line, header_.command_line);
  EXPECT_EQ(journal.header.started, header_.started);
  ASSERT_TRUE(journal.header.detection);
  EXPECT_EQ(journal.header.detection->killed, 65);
  ASSERT_EQ(journal.problems.size(), 2u);
  const ProblemRecord& p = journal.problems[0];
  EXPECT_EQ(p.op, "mm");
  EXPECT_EQ(p.dtype, DType::kBFloat16);
  ASSERT_EQ(p.cases.size(), 2u);
  EXPECT_EQ(p.cases[0].case_name, example_pass().case_name);
  EXPECT_EQ(p.cases[1].reasons, example_fail().reasons);
  EXPECT_EQ(p.cases[1].detail->bits_b, "0x3f1d");
  EXPECT_EQ(p.controls.searched, 7);
  EXPECT_EQ(p.controls.laws.at(0).changed.at("halves"), 500);
  EXPECT_EQ(p.worst_error_ppm, 130000);
  EXPECT_EQ(p.timed->bytes, 4096);
  EXPECT_EQ(p.failures.at(0).shrunk.case_name, example_failure().shrunk.case_name);
  EXPECT_EQ(p.killed_workers, 1);
  EXPECT_EQ(journal.problems[1].number, 1);
  EXPECT_FALSE(journal.problems[1].timed || journal.problems[1].worst_error_ppm);
  EXPECT_EQ(journal.timings.at(0).throughput.shape, "k64,n64 B=8");
  ASSERT_EQ(journal.decoder.size(), 1u);
  EXPECT_EQ(journal.decoder[0].question, example_decoder().question);
  EXPECT_EQ(journal.decoder[0].answer->first_token->served, 5);
  EXPECT_EQ(journal.good_bytes, text.size());
  EXPECT_EQ(journal.total_bytes, text.size());
}

TEST_F(JournalFile, HoldsEachProblemAsSoonAsItIsAdded) {
  JournalWriter writer(path_, header_);
  EXPECT_EQ(read_journal(path_).problems.size(), 0u);
  writer.add(full_problem());
  EXPECT_EQ(read_journal(path_).problems.size(), 1u);
}

// Whatever byte a kill stops at, the whole problems before it are read, and nothing else is.
TEST_F(JournalFile, DropsWhatIsNoWholeProblemAtAnyByte) {
  const std::string text = write_seven_lines();
  const std::size_t ends[] = {end_of_line(text, 1),
                              end_of_line(text, 4),
                              end_of_line(text, 5),
                              end_of_line(text, 6),
                              text.size()};
  for (std::size_t size = ends[0]; size <= text.size(); ++size) {
    replace_content(text.substr(0, size));
    const Journal journal = read_journal(path_);
    EXPECT_EQ(journal.problems.size(), (size >= ends[1]) + (size >= ends[3])) << size;
    EXPECT_EQ(journal.timings.size(), std::size_t{size >= ends[2]}) << size;
    EXPECT_EQ(journal.decoder.size(), std::size_t{size >= ends[4]}) << size;
    const auto good = *std::prev(std::upper_bound(std::begin(ends), std::end(ends), size));
    EXPECT_EQ(journal.good_bytes, good) << size;
    EXPECT_EQ(journal.total_bytes, size) << size;
  }
}

TEST_F(JournalFile, RefusesATruncatedHeader) {
  const std::string text = write_seven_lines();
  for (const std::size_t size : {std::size_t{0}, std::size_t{20}, text.find('\n')}) {
    replace_content(text.substr(0, size));
    EXPECT_THAT(refusal(), HasSubstr("line 1: no whole header")) << size;
  }
}

// At any byte: the text is in the end what one writer would have written.
TEST_F(JournalFile, IsResumedAfterADeathAtAnyByteOfAProblem) {
  const std::string text = write_seven_lines();
  const std::size_t whole = end_of_line(text, 4);
  for (std::size_t size = end_of_line(text, 1); size < whole; size += 7) {
    replace_content(text.substr(0, size));
    JournalWriter(path_, read_journal(path_)).add(full_problem());
    EXPECT_EQ(content(), text.substr(0, whole)) << size;
  }
}

// One changed bit anywhere: in the check, in a name, in a digest, in a line's end.
TEST_F(JournalFile, RefusesOneFlippedBitAnywhere) {
  const std::string text = write_seven_lines();
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    std::string wrong = text;
    wrong[i] ^= 1;
    replace_content(wrong);
    const auto line = std::to_string(1 + std::count(text.begin(), text.begin() + i, '\n'));
    EXPECT_THAT(refusal(), HasSubstr("line " + line + ": ")) << i;
  }
}

TEST_F(JournalFile, RefusesALineThatWasTakenOut) {
  const std::string text = write_seven_lines();
  const char* const wrong[] = {"line 1: ", "line 3: it closes 2 cases, but 1", "line 3: it closes"};
  for (int line = 1; line <= 3; ++line) {
    const std::size_t begin = end_of_line(text, line - 1), end = end_of_line(text, line);
    replace_content(text.substr(0, begin) + text.substr(end));
    EXPECT_THAT(refusal(), HasSubstr(wrong[line - 1])) << line;
  }
}

TEST_F(JournalFile, RefusesAProblemOrDecoderThatIsThereTwice) {
  const std::string text = write_seven_lines();
  const std::size_t begin = end_of_line(text, 1), end = end_of_line(text, 4);
  replace_content(text + text.substr(begin, end - begin));
  EXPECT_THAT(refusal(), HasSubstr("line 10: it closes a problem for the second time"));
  replace_content(text + text.substr(end_of_line(text, 6)));
  EXPECT_THAT(refusal(), HasSubstr("line 8: it answers for a decoder for the second time"));
}

TEST_F(JournalFile, RefusesATimingBetweenTheCasesOfAProblem) {
  const std::string text = write_seven_lines();
  const std::size_t second = end_of_line(text, 2), timing = end_of_line(text, 4);
  replace_content(text.substr(0, second) + text.substr(timing, end_of_line(text, 5) - timing) +
                  text.substr(second));
  EXPECT_THAT(refusal(), HasSubstr("line 3: it stands between the cases"));
}

TEST_F(JournalFile, RefusesAnotherSchemaVersion) {
  JournalHeader header = header_;
  header.schema_version = kSchemaVersion + 1;
  { JournalWriter writer(path_, header); }
  EXPECT_THAT(refusal(), HasSubstr("schema version 2, this program reads 1"));
}

TEST_F(JournalFile, IsNeverOverwritten) {
  const std::string text = write_seven_lines();
  EXPECT_THROW(JournalWriter(path_, header_), UsageError);
  EXPECT_EQ(content(), text);
}

TEST_F(JournalFile, HasOneWriterAtATime) {
  JournalWriter first(path_, header_);
  const Journal read = read_journal(path_);
  try {
    JournalWriter second(path_, read);
    FAIL() << "opened";
  } catch (const HarnessError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is being written by another bi-conform"));
  }
}

TEST_F(JournalFile, IsNotCutWhereItGrewSinceItWasRead) {
  write_seven_lines();
  const Journal read = read_journal(path_);
  std::ofstream(path_, std::ios::app) << "more";
  EXPECT_THROW(JournalWriter(path_, read), HarnessError);
  EXPECT_THAT(content(), testing::EndsWith("more"));
}

TEST_F(JournalFile, RefusesAPlaceThatCannotBeWritten) {
  try {
    JournalWriter writer("/nonexistent/journal.jsonl", header_);
    FAIL() << "opened";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'/nonexistent/journal.jsonl'"));
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
  EXPECT_THROW(read_journal("/nonexistent/journal.jsonl"), UsageError);
}

std::string failure_of(JournalWriter& writer) {
  try {
    writer.add(full_problem());
    return "written";
  } catch (const HarnessError& error) {
    return error.what();
  }
}

TEST_F(JournalFile, SaysThatTheDiskIsFull) {
  std::filesystem::create_symlink("/dev/full", path_);
  JournalWriter writer(path_, Journal{});
  EXPECT_THAT(failure_of(writer), HasSubstr("No space left on device"));
  EXPECT_THAT(failure_of(writer), HasSubstr("go on with --resume"));
}

/// Files of this process can have no more than so many bytes.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit less{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST_F(JournalFile, LetsNoLineFollowHalfALine) {
  JournalWriter writer(path_, header_);
  writer.add(empty_problem());
  const std::size_t whole = content().size();
  {
    const FileLimit limit(whole + 100);
    EXPECT_THAT(failure_of(writer), HasSubstr("File too large"));
  }
  EXPECT_THAT(failure_of(writer), HasSubstr("File too large"));
  EXPECT_EQ(content().size(), whole + 100);
  EXPECT_EQ(read_journal(path_).good_bytes, whole);
}

}  // namespace
}  // namespace bic::report
