#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "results_schema/report.h"

namespace bic {

/// What a run shows to people: header, progress with the time left, one row an op and dtype,
/// failures, verdict. On a terminal the progress line is rewritten in place; elsewhere there is
/// none.
class Console {
 public:
  /// `typed` is how a person calls the program, `flags` what follows the backend's name.
  Console(std::FILE* out, std::string typed, std::string flags = "");

  void header(const report::Report& report);
  void progress(std::size_t done, std::size_t all, std::int64_t cases, const std::string& now);
  void row(const report::OpRow& row);
  /// Of a decoder; what repeats it where it does not hold.
  void row(const report::DecoderRow& row);
  /// Of a whole model; so too.
  void row(const report::ModelRow& row);
  void failure(const report::Failure& failure);
  void verdict(const report::Report& report, const std::string& path);
  /// All of it as a run prints it: failures, then rows, op by op. `path` is where the report lies.
  void whole(const report::Report& report, const std::string& path);
  /// A line of its own.
  void note(const std::string& text) { line(text); }

 private:
  void line(const std::string& text);

  std::FILE* out_;
  bool terminal_;
  bool progress_shown_ = false;
  std::string typed_, flags_, backend_, seed_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace bic
