#pragma once

#include <nlohmann/json.hpp>

namespace bic::report {

/// What is empty is not written: an optional without value, a text or list of nothing.
template <typename Value>
void put_if(nlohmann::json& object, const char* key, const Value& value) {
  if constexpr (requires { value.empty(); }) {
    if (!value.empty()) object[key] = value;
  } else if (value) {
    object[key] = *value;
  }
}

/// What is not written stays as it is.
template <typename Value>
void get_if(const nlohmann::json& object, const char* key, Value& out) {
  if (!object.contains(key)) return;
  if constexpr (requires { out.empty(); }) {
    object.at(key).get_to(out);
  } else {
    out = object.at(key).template get<typename Value::value_type>();
  }
}

}  // namespace bic::report
