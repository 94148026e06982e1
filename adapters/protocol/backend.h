#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "adapters/protocol/messages.h"
#include "results_schema/error.h"

namespace bic::protocol {

/// An op that a user declared for this run: no worker's own list has it.
struct DeclaredOp {
  std::string op;
  std::vector<DType> dtypes;
  std::vector<std::string> calls;  ///< call texts of all its forms
};

/// One backend under test, inside a worker. It translates and nothing else: no state between calls,
/// no retry, no tolerance, no knowledge of what will be compared. Called from one thread.
class Backend {
 public:
  virtual ~Backend() = default;

  /// What was declared, before `hello`. Of use to a backend that serves ops by their calls.
  virtual void declare(const std::vector<DeclaredOp>&) {}

  /// Name, fingerprint, libraries and manifest; fixed before any input exists.
  virtual Hello hello() = 0;

  /// Loads a problem. `pool` stays mapped until the next load.
  virtual void load(const ProblemMessage& problem, std::span<const std::byte> pool) = 0;

  /// Gathers the inputs, runs the op once, waits for the device and writes the output's elements
  /// row-major to `output`. Exceptions of the subject become Outcome::kException.
  virtual TrialReply run(const TrialMessage& trial, std::span<std::byte> output) = 0;

  /// Times calls on inputs gathered beforehand; the last call's output goes to `output`.
  virtual TimeReply time(const TimeMessage& request, std::span<std::byte> output) = 0;

  /// Runs a whole model and tells what was asked of it; what is large goes to `room`. Only those
  /// that `hello` lists are asked for. Exceptions become the reply's error.
  virtual nlohmann::json study(const std::string& name,
                               const nlohmann::json& request,
                               std::span<std::byte> room) {
    (void)request, (void)room;
    throw HarnessError("protocol: no study is called '" + name + "'");
  }
};

/// Answers requests on `socket` until the other side closes it. Returns the worker's exit code.
int serve(int socket, Backend& backend);

}  // namespace bic::protocol
