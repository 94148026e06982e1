#pragma once

#include <stdexcept>
#include <string>

namespace bic {

/// Exit codes of the program; when several apply, 2, 5, 4, 1, 3, 0 is the order of precedence.
enum class ExitCode : int {
  kConforms = 0,
  kDoesNotConform = 1,
  kUsage = 2,
  kUnproved = 3,
  kHarnessError = 4,
  kSignature = 5,
};

/// What a user can cause or must know, in one line: what is wrong, the value, what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& line) : std::runtime_error(line), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// A mistake in a flag, a file or a case string.
struct UsageError : Error {
  explicit UsageError(const std::string& line) : Error(ExitCode::kUsage, line) {}
};

/// The harness could not do its own work.
struct HarnessError : Error {
  explicit HarnessError(const std::string& line) : Error(ExitCode::kHarnessError, line) {}
};

}  // namespace bic
