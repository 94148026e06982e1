#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bic {

/// Damerau-Levenshtein distance (optimal string alignment): the fewest insertions, deletions,
/// replacements and swaps of neighbouring characters that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name nearest to a mistyped one, upper and lower case alike; the first of equals. Empty
/// when none is near, that is within a third of the longer one's length and at least 1 edit.
std::string nearest(std::string_view wrong, std::span<const std::string> known);

/// "; did you mean 'softmax'?" for the end of an error's line, or "" when nothing is near.
std::string did_you_mean(std::string_view wrong, std::span<const std::string> known);

}  // namespace bic
