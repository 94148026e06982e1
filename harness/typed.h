#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bic {

// What people type: in flags and in files of sizes.

/// The parts between separators; "a,b," has an empty third one, "" none.
std::vector<std::string> split(const std::string& text, char at);

/// A whole number from 1 to `most`; empty for any other text.
std::optional<std::int64_t> whole_number(const std::string& text, std::int64_t most);

}  // namespace bic
