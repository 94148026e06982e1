#include "results_schema/axis.h"

#include <charconv>

#include "results_schema/error.h"

namespace bic {
namespace {

[[noreturn]] void refuse(std::string_view axis, const std::string& why) {
  throw HarnessError("axis '" + std::string(axis) + "': " + why);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// A dim or a number.
std::int64_t factor(std::string_view axis, std::string_view text, const Dims& dims) {
  if (const auto dim = dims.find(std::string(text)); dim != dims.end()) return dim->second;
  std::int64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (!is_number(text) || error != std::errc() || end != last) {
    refuse(axis, "'" + std::string(text) + "' is neither a dim of the problem nor a number");
  }
  return number;
}

/// Calls `use(sign, term)` for each of the terms between + and -.
template <class Use>
void for_each_term(std::string_view axis, Use use) {
  int sign = 1;
  while (true) {
    const std::size_t end = axis.find_first_of("+-");
    use(sign, axis.substr(0, end));
    if (end == std::string_view::npos) return;
    sign = axis[end] == '+' ? 1 : -1;
    axis.remove_prefix(end + 1);
  }
}

}  // namespace

bool is_batch_axis(std::string_view axis) { return axis == "B" || axis.ends_with("*B"); }

std::int64_t axis_extent(std::string_view axis, const Dims& dims, std::int64_t batch) {
  if (axis == "B") return batch;
  if (is_batch_axis(axis)) return axis_extent(axis.substr(0, axis.size() - 2), dims, 1) * batch;
  std::int64_t extent = 0;
  for_each_term(axis, [&](int sign, std::string_view term) {
    const std::size_t times = term.find('*');
    std::int64_t product = factor(axis, term.substr(0, times), dims);
    if (times != std::string_view::npos) product *= factor(axis, term.substr(times + 1), dims);
    extent += sign * product;
  });
  if (extent < 1) refuse(axis, "it comes to " + std::to_string(extent));
  return extent;
}

bool axis_mentions(std::string_view axis, std::string_view dim) {
  if (is_batch_axis(axis))
    axis = axis.substr(0, axis.size() - std::min<std::size_t>(2, axis.size()));
  bool found = false;
  for_each_term(axis, [&](int, std::string_view term) {
    const std::size_t times = term.find('*');
    found = found || term.substr(0, times) == dim ||
            (times != std::string_view::npos && term.substr(times + 1) == dim);
  });
  return found;
}

}  // namespace bic
