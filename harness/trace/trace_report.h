#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "harness/trace/trace.h"
#include "results_schema/model_row.h"

namespace bic {

/// What was traced, of whom.
struct TraceSubject {
  std::string backend, device;
  ModelChoice choice;
  std::string only;
  std::string repro;  ///< what is typed before a case string, and after it the backend's flags
  std::string repro_flags;
  std::optional<report::ModelWeights> weights{};
};

/// What a trace and an audit begin with.
nlohmann::json head_json(const TraceSubject& subject);

/// As results_schema/trace.schema.json has it. No number in it has a fraction: distances are C
/// hex-floats, as attributes are.
nlohmann::json trace_json(const TraceSubject& subject, const TraceResult& result);

/// A line a tensor, then the first divergence.
std::string trace_text(const TraceSubject& subject, const TraceResult& result);

}  // namespace bic
