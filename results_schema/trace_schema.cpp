#include "results_schema/trace_schema.h"

#include "results_schema/schema_check.h"

namespace bic::report {

std::string trace_schema_error(const nlohmann::json& trace) {
  static const SchemaCheck kTrace(trace_schema_text(), "trace");
  return kTrace.error(trace);
}

}  // namespace bic::report
