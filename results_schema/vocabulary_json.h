#pragma once

// Internal: words of the vocabulary in JSON, by name. nlohmann finds these through the namespace of
// their types.

#include <nlohmann/json.hpp>
#include <string>

#include "results_schema/error.h"
#include "results_schema/vocabulary.h"

namespace bic {

/// Throws UsageError when `parse` knows no such word.
template <typename Enum>
Enum value_of(const nlohmann::json& text,
              std::optional<Enum> (*parse)(std::string_view),
              const char* what) {
  const auto value = parse(text.get_ref<const std::string&>());
  if (!value) throw UsageError("unknown " + std::string(what) + " " + text.dump());
  return *value;
}

inline void to_json(nlohmann::json& j, DType value) { j = name(value); }
inline void to_json(nlohmann::json& j, Law value) { j = name(value); }
inline void to_json(nlohmann::json& j, Level value) { j = name(value); }
inline void to_json(nlohmann::json& j, Reason value) { j = name(value); }
inline void to_json(nlohmann::json& j, Status value) { j = name(value); }
inline void from_json(const nlohmann::json& j, DType& value) {
  value = value_of(j, parse_dtype, "dtype");
}
inline void from_json(const nlohmann::json& j, Law& value) {
  value = value_of(j, parse_law, "law");
}
inline void from_json(const nlohmann::json& j, Level& value) {
  value = value_of(j, parse_level, "level");
}
inline void from_json(const nlohmann::json& j, Reason& value) {
  value = value_of(j, parse_reason, "reason");
}
inline void from_json(const nlohmann::json& j, Status& value) {
  value = value_of(j, parse_status, "status");
}

}  // namespace bic
