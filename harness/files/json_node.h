#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace bic {

/// A value of a user's JSON file and where it stands, so that every error can say so. All that
/// reads throws UsageError where the value is of another kind. Refers to the JSON given.
class JsonNode {
 public:
  /// `file` begins each error's line.
  JsonNode(std::string file, std::string path, const nlohmann::json& value)
      : file_(std::move(file)), path_(std::move(path)), value_(value) {}

  /// "FILE: dims.h.from: what"
  [[noreturn]] void refuse(const std::string& what) const;

  /// Refuses keys of an object that are not `known`, naming the nearest.
  void allow(const std::vector<std::string>& known) const;

  bool has(const std::string& key) const;
  JsonNode at(const std::string& key) const;  ///< refuses where it is missing
  std::vector<std::pair<std::string, JsonNode>> members() const;
  std::vector<JsonNode> items() const;

  std::string text() const;  ///< a string that is not empty
  std::int64_t whole(std::int64_t least, std::int64_t most) const;
  /// A string, a whole number or a bool, as call texts write them.
  std::string literal() const;
  std::string text_or(const std::string& key, const std::string& otherwise) const;
  bool flag_or(const std::string& key, bool otherwise) const;

 private:
  const nlohmann::json& object() const;
  std::string path_of(const std::string& key) const;

  std::string file_, path_;
  const nlohmann::json& value_;
};

}  // namespace bic
