#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "results_schema/report.h"
#include "results_schema/vocabulary.h"

namespace bic::report {

/// First line of a journal: a run is resumed only with the same values.
struct JournalHeader {
  std::int64_t schema_version = kSchemaVersion;
  std::string suite_version;
  std::string backend;
  Seed seed;
  std::string strength = "quick";
  bool operator==(const JournalHeader&) const = default;
};

/// What a journal holds.
struct Journal {
  JournalHeader header;
  std::vector<CaseResult> cases;  ///< in the order in which they were judged
  std::size_t good_lines = 0;     ///< the header included
  std::uintmax_t good_bytes = 0;  ///< where the next line belongs
  bool truncated = false;         ///< a last line without its newline was dropped
};

/// Append-only JSON lines: the header, then one object per judged case. Each line is handed to the
/// kernel before `add` returns, so that a killed run loses at most the line being written. The
/// member "check" of a line is the first 8 hex digits of the SHA-256 of the line without it.
class JournalWriter {
 public:
  /// A new journal. Throws UsageError when the file exists or cannot be created.
  JournalWriter(const std::filesystem::path& path, const JournalHeader& header);

  /// Goes on with the journal that was read from `path`; cuts off a truncated last line.
  /// Throws UsageError when the file cannot be opened.
  static JournalWriter resume(const std::filesystem::path& path, const Journal& read);

  JournalWriter(JournalWriter&& other) noexcept;
  JournalWriter& operator=(JournalWriter&&) = delete;
  ~JournalWriter();

  /// Appends one case. Throws HarnessError when the line cannot be written, as on a full disk.
  void add(const CaseResult& result);

 private:
  JournalWriter(int descriptor, std::filesystem::path path);
  void write_line(const std::string& body);

  int descriptor_;
  std::filesystem::path path_;
};

/// Reads a journal. A last line without its newline is dropped; any other fault (a check that does
/// not match, another schema version, no whole header) is a UsageError that names file and line.
Journal read_journal(const std::filesystem::path& path);

}  // namespace bic::report
