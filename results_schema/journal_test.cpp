#include "results_schema/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "results_schema/error.h"
#include "results_schema/report_example.h"

namespace bic::report {
namespace {

using testing::HasSubstr;

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

  // A header and two cases.
  std::string write_three_lines() const {
    JournalWriter writer(path_, header_);
    writer.add(example_pass());
    writer.add(example_fail());
    return content();
  }

  std::string refusal() const {
    try {
      read_journal(path_);
      return "accepted";
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  std::filesystem::path path_;
  const JournalHeader header_{kSchemaVersion, "0.1.0", "libtorch", Seed{7}, "standard"};
};

TEST_F(JournalFile, ReadsWhatWasWritten) {
  const std::string text = write_three_lines();
  const Journal journal = read_journal(path_);
  EXPECT_EQ(journal.header, header_);
  ASSERT_EQ(journal.cases.size(), 2u);
  EXPECT_EQ(journal.cases[0].case_name, example_pass().case_name);
  EXPECT_EQ(journal.cases[1].status, Status::kFail);
  EXPECT_EQ(journal.cases[1].reasons, example_fail().reasons);
  EXPECT_EQ(journal.cases[1].detail->bits_b, "0x3f1d");
  EXPECT_EQ(journal.good_lines, 3u);
  EXPECT_EQ(journal.good_bytes, text.size());
  EXPECT_FALSE(journal.truncated);
}

TEST_F(JournalFile, HoldsEachCaseAsSoonAsItIsAdded) {
  JournalWriter writer(path_, header_);
  EXPECT_EQ(read_journal(path_).cases.size(), 0u);
  writer.add(example_pass());
  EXPECT_EQ(read_journal(path_).cases.size(), 1u);
}

// Whatever byte a kill stops at, the whole lines before it are read.
TEST_F(JournalFile, DropsATruncatedLastLineAtAnyByte) {
  const std::string text = write_three_lines();
  const std::size_t header_end = text.find('\n') + 1;
  const std::size_t first_end = text.find('\n', header_end) + 1;
  for (std::size_t size = header_end; size < text.size(); ++size) {
    replace_content(text.substr(0, size));
    const Journal journal = read_journal(path_);
    const std::size_t whole = size < first_end ? 0 : 1;
    EXPECT_EQ(journal.cases.size(), whole) << size;
    EXPECT_EQ(journal.good_lines, whole + 1) << size;
    EXPECT_EQ(journal.good_bytes, whole == 0 ? header_end : first_end) << size;
    EXPECT_EQ(journal.truncated, size != journal.good_bytes) << size;
  }
}

TEST_F(JournalFile, RefusesATruncatedHeader) {
  const std::string text = write_three_lines();
  for (const std::size_t size : {std::size_t{0}, std::size_t{20}, text.find('\n')}) {
    replace_content(text.substr(0, size));
    EXPECT_THAT(refusal(), HasSubstr("line 1: no whole header")) << size;
  }
}

TEST_F(JournalFile, IsResumedAfterATruncatedLine) {
  const std::string text = write_three_lines();
  replace_content(text.substr(0, text.size() - 5));
  const Journal read = read_journal(path_);
  JournalWriter writer = JournalWriter::resume(path_, read);
  writer.add(example_fail());
  EXPECT_EQ(content(), text);
}

// One changed bit anywhere: in the check, in a name, in a digest, in a line's end.
TEST_F(JournalFile, RefusesOneFlippedBitAnywhere) {
  const std::string text = write_three_lines();
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    std::string wrong = text;
    wrong[i] ^= 1;
    replace_content(wrong);
    const auto line = std::to_string(1 + std::count(text.begin(), text.begin() + i, '\n'));
    EXPECT_THAT(refusal(), HasSubstr("line " + line + ": ")) << i;
  }
}

TEST_F(JournalFile, RefusesALineThatWasTakenOutOfTheHeadersPlace) {
  const std::string text = write_three_lines();
  replace_content(text.substr(text.find('\n') + 1));
  EXPECT_THAT(refusal(), HasSubstr("line 1: "));
}

TEST_F(JournalFile, RefusesAnotherSchemaVersion) {
  JournalHeader header = header_;
  header.schema_version = kSchemaVersion + 1;
  { JournalWriter writer(path_, header); }
  EXPECT_THAT(refusal(), HasSubstr("schema version 2, this program reads 1"));
}

TEST_F(JournalFile, IsNeverOverwritten) {
  const std::string text = write_three_lines();
  EXPECT_THROW(JournalWriter(path_, header_), UsageError);
  EXPECT_EQ(content(), text);
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

TEST_F(JournalFile, SaysThatTheDiskIsFull) {
  Journal nothing;
  std::filesystem::create_symlink("/dev/full", path_);
  try {
    JournalWriter::resume(path_, nothing).add(example_pass());
    FAIL() << "written";
  } catch (const HarnessError& error) {
    EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
  }
}

}  // namespace
}  // namespace bic::report
