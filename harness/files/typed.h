#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results_schema/render/shell_quoted.h"

namespace bic {

// What people type: in flags, in files of sizes and again in what a program prints.

/// The parts between separators; "a,b," has an empty third one, "" none.
std::vector<std::string> split(const std::string& text, char at);

/// A whole number from `least` to `most`; empty for any other text.
std::optional<std::int64_t> whole_number(std::string_view text,
                                         std::int64_t most,
                                         std::int64_t least = 1);

/// The same of a flag's value. Throws UsageError that names the flag.
std::int64_t number_flag(const std::string& flag,
                         const std::string& text,
                         std::int64_t most,
                         std::int64_t least = 1);

}  // namespace bic
