#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bic::report {

/// What the member `trace` says.
inline constexpr std::int64_t kTraceVersion = 1;

/// Text of trace.schema.json (JSON Schema, draft-07), compiled in.
std::string_view trace_schema_text();

/// The first way in which what `bi-conform trace --json` writes breaks the schema, with its place,
/// in one line; empty when it fits.
std::string trace_schema_error(const nlohmann::json& trace);

}  // namespace bic::report
