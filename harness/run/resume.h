#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results_schema/journal.h"

namespace bic {

/// What a run and one that goes on with it must have in common: names and values, for people.
using RunFacts = std::vector<std::pair<std::string, std::string>>;

/// Whether a run left its journal in the folder. Throws UsageError of --resume where nobody can
/// tell.
bool has_journal(const std::filesystem::path& folder);

/// The journal of a run: a new one, or that of a run that was cut. Safe from any thread.
class RunJournal {
 public:
  /// Under the folder `out`. With `resumed` it reads the journal that lies there; else it makes
  /// the folder and removes what an earlier run left. Throws UsageError when there is no journal or
  /// the folder cannot be made or cleared, HarnessError for a journal that was changed.
  RunJournal(std::filesystem::path out, bool resumed);

  bool resumed() const { return resumed_; }
  /// Whether a run that was cut lay in the folder, which this one begins anew.
  bool replaces_cut_run() const { return replaces_cut_run_; }
  /// Problems that the journal held.
  std::size_t problems() const { return found_; }
  const report::JournalHeader& header() const { return header_; }

  /// Refuses to go on with a run of which one of the facts was another: HarnessError with both
  /// values. `all`: it had no others. Nothing is refused of a new run.
  void check(const RunFacts& facts, bool all) const;

  /// Throws UsageError when a run of so many problems and decoders has nothing left to do.
  void refuse_complete(std::size_t problems, std::size_t decoders) const;

  /// From here on the journal is written. Its header is `header`, unless it has one.
  void begin(const report::JournalHeader& header);

  /// A judged problem; each is given once.
  std::optional<report::ProblemRecord> take(const std::string& op, DType dtype, std::size_t number);
  std::optional<report::Throughput> timing(const std::string& op, DType dtype) const;
  std::optional<report::DecoderRow> decoder(const report::DecoderQuestion& question) const;

  void keep(const report::ProblemRecord& problem);
  void keep(const report::RowTiming& timing);
  void keep(const report::DecoderRow& row);

 private:
  std::filesystem::path report() const { return out_ / "report.json"; }
  void remove(const std::filesystem::path& old) const;
  [[noreturn]] void refuse(const std::string& fact,
                           const std::string& there,
                           const std::string& now) const;

  std::filesystem::path out_, path_;
  bool resumed_, replaces_cut_run_ = false;
  report::Journal read_;
  report::JournalHeader header_;
  std::size_t found_ = 0;
  std::map<std::tuple<std::string, DType, std::size_t>, report::ProblemRecord> problems_;
  std::mutex mutex_;
  std::optional<report::JournalWriter> writer_;
};

}  // namespace bic
