#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results_schema/report.h"
#include "results_schema/vocabulary.h"

namespace bic::report {

/// First line of a journal.
struct JournalHeader {
  std::int64_t schema_version = kSchemaVersion;
  std::map<std::string, std::string> facts;  ///< what a run that is resumed must share, by name
  std::string command_line;                  ///< of the run that began it, for people
  std::string started;                       ///< RFC 3339
  std::optional<Detection> detection;        ///< of a self-test made before that run
};

/// The output of a trial that is worth timing.
struct TimedOutput {
  std::string sha256;
  std::int64_t bytes = 0;
};

/// Everything that a report needs of one judged problem.
struct ProblemRecord {
  std::string op;
  DType dtype = DType::kFloat32;
  std::int64_t number = 0;        ///< among the planned problems of its op and dtype
  std::vector<CaseResult> cases;  ///< as planned
  Controls controls;              ///< of this problem alone
  std::optional<std::int64_t> worst_error_ppm;
  std::optional<TimedOutput> timed;  ///< where no earlier problem of its row had as much work
  std::vector<Failure> failures;     ///< that no earlier problem of its row had
  std::int64_t killed_workers = 0;   ///< see `Run`
};

/// The speed of one row, measured when all of its problems were judged.
struct RowTiming {
  std::string op;
  DType dtype = DType::kFloat32;
  Throughput throughput;
};

/// What a journal holds.
struct Journal {
  JournalHeader header;
  std::vector<ProblemRecord> problems;  ///< in the order in which they were closed, none twice
  std::vector<RowTiming> timings;
  std::vector<DecoderRow> decoder;  ///< none twice
  std::uintmax_t good_bytes = 0;    ///< where the next line belongs
  std::uintmax_t total_bytes = 0;   ///< more than `good_bytes` after a death: the rest is dropped
};

/// Append-only JSON lines: the header, then of each judged problem one object a case and one that
/// closes it, and one for each timed row and each decoder. A line is handed to the kernel before
/// `add` goes on, so that a killed run loses at most the problem being written. The member "check"
/// of a line is the first 8 hex digits of the SHA-256 of the line without it. A journal has one
/// writer at a time.
class JournalWriter {
 public:
  /// A new journal. Throws UsageError when the file exists or cannot be created.
  JournalWriter(const std::filesystem::path& path, const JournalHeader& header);

  /// Goes on with the journal that was read from `path`; cuts off what is no whole problem.
  /// Throws UsageError when the file cannot be opened, HarnessError when another writer has it.
  JournalWriter(const std::filesystem::path& path, const Journal& read);

  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;
  ~JournalWriter();

  /// Appends. Throws HarnessError when a line cannot be written, as on a full disk; after that
  /// nothing is written any more, so that no line follows half a line.
  void add(const ProblemRecord& problem);
  void add(const RowTiming& timing);
  void add(const DecoderRow& row);

 private:
  JournalWriter(const std::filesystem::path& path, int flags);
  void lock();
  void write_line(const std::string& body);

  std::filesystem::path path_;
  int descriptor_;
  std::string failure_;  ///< of an earlier write
};

/// Whether a run goes on that holds the journal at `path`.
bool is_being_written(const std::filesystem::path& path);

/// Reads a journal. What follows the last closed problem (a cut line, cases of a problem that was
/// being written) is dropped; any other fault (a check that does not match, another schema version,
/// a problem twice, no whole header) is a HarnessError that names file and line: a file that was
/// changed is not trusted in part. Throws UsageError when the file cannot be read.
Journal read_journal(const std::filesystem::path& path);

/// The same with its text; `where` names the source in errors.
Journal parse_journal(std::string_view text, const std::string& where);

}  // namespace bic::report
