#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bic::report {

/// Text of report.schema.json (JSON Schema, draft-07), compiled in.
std::string_view schema_text();

/// The first way in which `report` breaks the schema, with its place, in one line; empty when it
/// fits.
std::string schema_error(const nlohmann::json& report);

/// The same of a worker's answer, the schema's definition decoder_answer.
std::string decoder_answer_error(const nlohmann::json& answer);

}  // namespace bic::report
