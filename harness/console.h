#pragma once

#include <chrono>
#include <cstdio>
#include <set>
#include <string>
#include <tuple>

#include "harness/judge.h"
#include "results_schema/report.h"

namespace bic {

/// What a run shows to people: header, progress with the time left, one row an op and dtype,
/// failures, verdict. On a terminal the progress line is rewritten in place; elsewhere there is
/// none.
class Console {
 public:
  /// `typed` is how a person calls the program.
  Console(std::FILE* out, std::string typed);

  void header(const report::Report& report);
  void progress(std::size_t done, std::size_t all, std::int64_t cases, const std::string& now);
  void row(const report::OpRow& row);
  /// The first failure of each op, dtype and relation; the others are counted.
  void failure(const Case& c, const Problem& problem, const report::CaseResult& result);
  void verdict(const report::Report& report, const std::string& path);

 private:
  void line(const std::string& text);

  std::FILE* out_;
  bool terminal_;
  bool progress_shown_ = false;
  std::string typed_, backend_;
  std::set<std::tuple<std::string, DType, std::string>> shown_;
  std::int64_t hidden_ = 0;
  std::chrono::steady_clock::time_point started_;
};

/// The two lines of a failure: for the eye and for the clipboard.
std::string failure_text(const Case& c,
                         const Problem& problem,
                         const report::CaseResult& result,
                         const std::string& typed,
                         const std::string& backend);

}  // namespace bic
