#include "results_schema/render/page.h"

#include <fmt/format.h>

#include <algorithm>

namespace bic::report {
namespace {

constexpr std::size_t kLastLine = 200;  ///< kept free for the line on what was left out

}  // namespace

void Page::add(std::string_view block) {
  if (left_out_ > 0 || text_.size() + block.size() + 1 + kLastLine > most_) {
    ++left_out_;
    return;
  }
  text_ += block;
  text_ += '\n';
}

std::string Page::text(std::string_view whole) const {
  if (left_out_ == 0) return text_;
  const std::string where = cell_text(whole.substr(0, kLastLine / 2));
  return text_ +
         fmt::format("\n{} more blocks found no room here; all of it: {}\n", left_out_, where);
}

std::string cell_text(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (std::string_view("|`*_[]<>&\\#~").find(c) != std::string_view::npos) cell += '\\';
    cell += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return cell;
}

std::string code_block(std::string_view text, std::string_view language) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string shown(text);
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < ' ' && c != '\n'; }, '?');
  return fmt::format("{}{}\n{}\n{}", fence, language, shown, fence);
}

}  // namespace bic::report
