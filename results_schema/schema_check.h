#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bic {

/// A JSON Schema (draft-07).
class SchemaCheck {
 public:
  /// `what` names a whole value in errors: "report".
  SchemaCheck(std::string_view schema, std::string what);
  ~SchemaCheck();
  SchemaCheck(const SchemaCheck&) = delete;
  SchemaCheck& operator=(const SchemaCheck&) = delete;

  /// The first way in which `value` breaks the schema, with its place, in one line; empty when it
  /// fits.
  std::string error(const nlohmann::json& value) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
  std::string what_;
};

}  // namespace bic
