#pragma once

// Internal: conversions between the report's structs and JSON that already fits the schema.

#include <nlohmann/json_fwd.hpp>

#include "results_schema/report.h"

namespace bic::report {

nlohmann::json report_to_json(const Report& report);
/// Throws nlohmann::json::exception or UsageError when the JSON does not fit.
Report report_from_json(const nlohmann::json& json);

// The parts that a journal holds too.
nlohmann::json case_to_json(const CaseResult& result);
CaseResult case_from_json(const nlohmann::json& json);
nlohmann::json failure_to_json(const Failure& failure);
Failure failure_from_json(const nlohmann::json& json);
nlohmann::json controls_to_json(const Controls& controls);
Controls controls_from_json(const nlohmann::json& json);
void to_json(nlohmann::json& j, const Throughput& throughput);
void from_json(const nlohmann::json& j, Throughput& throughput);

}  // namespace bic::report
