#pragma once

#include <map>
#include <memory>
#include <vector>

#include "harness/run/jobs.h"
#include "harness/run/perf.h"
#include "harness/run/run.h"

namespace bic {

/// Times one problem of each row, the one with the most work, beside stock.
class RowTimer {
 public:
  /// Both must outlive it.
  RowTimer(const RunOptions& options, RunJournal& journal) : options_(options), journal_(journal) {}

  /// The last problem offered of a row is timed.
  void offer(std::size_t row, JudgedProblem judged);

  /// Writes the throughput of what was offered into the rows, which are numbered like `cells`;
  /// those of the journal are taken from it. `keep`: the rows are whole, the journal is to have it.
  void time(const std::vector<Cell>& cells,
            Jobs& jobs,
            bool keep,
            std::map<std::size_t, report::OpRow>& rows);

 private:
  std::optional<report::Throughput> measure(const Cell& cell,
                                            JudgedProblem judged,
                                            report::OpRow row);

  const RunOptions& options_;
  RunJournal& journal_;
  std::map<std::size_t, JudgedProblem> offered_;  ///< by row
  /// Only timed. A worker that has run larger teams than there are cores is slower ever after.
  std::unique_ptr<Stage> backend_, stock_;
};

}  // namespace bic
