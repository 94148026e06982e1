#include "harness/files/json_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "results_schema/error.h"
#include "results_schema/nearest.h"

namespace bic {

using nlohmann::json;

void JsonNode::refuse(const std::string& what) const {
  std::string line = file_ + ": " + (path_.empty() ? "" : path_ + ": ") + what;
  std::ranges::replace(line, '\n', ' ');
  throw UsageError(line);
}

const json& JsonNode::object() const {
  if (!value_.is_object()) refuse("it is no object; write { … }");
  return value_;
}

std::string JsonNode::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void JsonNode::allow(const std::vector<std::string>& known) const {
  for (const auto& [key, value] : object().items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    refuse(fmt::format(
        "unknown key '{}'{} (known: {})", key, did_you_mean(key, known), fmt::join(known, ", ")));
  }
}

bool JsonNode::has(const std::string& key) const { return object().contains(key); }

JsonNode JsonNode::at(const std::string& key) const {
  if (!has(key)) refuse(fmt::format("'{}' is missing", key));
  return {file_, path_of(key), value_.at(key)};
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  std::vector<std::pair<std::string, JsonNode>> all;
  for (const auto& [key, value] : object().items()) {
    all.emplace_back(key, JsonNode(file_, path_of(key), value));
  }
  return all;
}

std::vector<JsonNode> JsonNode::items() const {
  if (!value_.is_array()) refuse("it is no list; write [ … ]");
  std::vector<JsonNode> all;
  for (std::size_t i = 0; i < value_.size(); ++i) {
    all.emplace_back(file_, fmt::format("{}[{}]", path_, i), value_[i]);
  }
  return all;
}

std::string JsonNode::text() const {
  if (!value_.is_string()) refuse(fmt::format("{} is no text; write \"…\"", value_.dump()));
  std::string text = value_.get<std::string>();
  if (text.empty()) refuse("it is empty");
  return text;
}

std::int64_t JsonNode::whole(std::int64_t least, std::int64_t most) const {
  const bool fits = value_.is_number_integer() && value_.get<std::int64_t>() >= least &&
                    value_.get<std::int64_t>() <= most;
  if (!fits) {
    refuse(fmt::format("{} is not a whole number from {} to {}", value_.dump(), least, most));
  }
  return value_.get<std::int64_t>();
}

std::string JsonNode::literal() const {
  if (value_.is_boolean()) return value_.get<bool>() ? "True" : "False";
  if (value_.is_number_integer()) return value_.dump();
  return text();
}

std::string JsonNode::text_or(const std::string& key, const std::string& otherwise) const {
  return has(key) ? at(key).text() : otherwise;
}

bool JsonNode::flag_or(const std::string& key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!value_.at(key).is_boolean()) at(key).refuse("it is neither true nor false");
  return value_.at(key).get<bool>();
}

}  // namespace bic
