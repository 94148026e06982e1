#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bic::report {

/// What GitHub takes as one comment, less some room.
inline constexpr std::size_t kMostComment = 65'000;

/// Markdown that fits a comment: what comes later is left out first, and the page says so.
class Page {
 public:
  explicit Page(std::size_t most = kMostComment) : most_(most) {}

  /// Adds the block and a line's end, unless it or a block before it found no room.
  void add(std::string_view block);

  /// The page. Where something was left out it ends with a line that says how much, and where all
  /// of it is.
  std::string text(std::string_view whole) const;

 private:
  std::size_t most_;
  std::string text_;
  std::size_t left_out_ = 0;
};

/// The text in a cell of a table: one line that is not read as Markdown or HTML.
std::string cell_text(std::string_view text);

/// The text as it is, between fences that it cannot close. `language` is "text" or "sh".
std::string code_block(std::string_view text, std::string_view language);

}  // namespace bic::report
