#include "results_schema/nearest.h"

#include <algorithm>
#include <vector>

namespace bic {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the table whose entry [i][j] is the distance of the first i and j
  // letters.
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view wrong, std::span<const std::string> known) {
  const std::string typed = lower(wrong);
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& name : known) {
    const std::size_t limit = std::max<std::size_t>(1, std::max(typed.size(), name.size()) / 3);
    const std::size_t distance = edit_distance(typed, lower(name));
    // A name of one or two letters is one edit from every other such name.
    if (distance > limit || distance >= std::max(typed.size(), name.size())) continue;
    if (best.empty() || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string> known) {
  const std::string name = nearest(wrong, known);
  return name.empty() ? "" : "; did you mean '" + name + "'?";
}

}  // namespace bic
