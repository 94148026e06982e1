#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bic {

/// Said before all else, as a file of another version has other members too: that `member` of it
/// is a number other than the one that this program reads. Empty when it is none.
std::string other_version(const nlohmann::json& file, const char* member, std::int64_t reads);

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
