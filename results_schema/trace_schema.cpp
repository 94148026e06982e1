#include "results_schema/trace_schema.h"

#include <nlohmann/json.hpp>

#include "results_schema/schema_check.h"

namespace bic::report {

std::string trace_schema_error(const nlohmann::json& trace) {
  const std::string other = other_version(trace, "trace", kTraceVersion);
  if (!other.empty()) return other;
  static const SchemaCheck kTrace(trace_schema_text(), "trace");
  return kTrace.error(trace);
}

}  // namespace bic::report
