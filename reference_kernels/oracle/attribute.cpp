#include "reference_kernels/oracle/attribute.h"

#include <charconv>
#include <string_view>

#include "results_schema/error.h"

namespace bic {

double real_attribute(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) throw HarnessError("attribute '" + name + "' is missing");
  std::string_view text = found->second;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  double value = 0;
  // from_chars, not strtod: the latter reads the decimal point of the user's locale.
  const auto [end, error] =
      std::from_chars(text.data(),
                      text.data() + text.size(),
                      value,
                      hex ? std::chars_format::hex : std::chars_format::general);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw HarnessError("attribute '" + name + "': '" + found->second + "' is no real number");
  }
  return negative ? -value : value;
}

std::string text_attribute(const Attributes& attributes,
                           const std::string& name,
                           const std::string& otherwise) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? otherwise : found->second;
}

}  // namespace bic
