#include "harness/files/typed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "results_schema/error.h"

namespace bic {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  if (text.ends_with(at)) parts.emplace_back();  // getline sees nothing after the last separator
  return parts;
}

std::optional<std::int64_t> whole_number(std::string_view text,
                                         std::int64_t most,
                                         std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

std::int64_t number_flag(const std::string& flag,
                         const std::string& text,
                         std::int64_t most,
                         std::int64_t least) {
  if (const auto value = whole_number(text, most, least)) return *value;
  throw UsageError(
      fmt::format("{}: '{}' is not a whole number from {} to {}", flag, text, least, most));
}

}  // namespace bic
