#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bic::signing {

/// RFC 4648 base64, standard alphabet, padded, no line ends.
std::string to_base64(std::string_view bytes);

/// The bytes of a padded base64 text in the standard or the URL-safe alphabet. Empty when the
/// text is anything else: both alphabets mixed, white space, padding that is missing, or bits
/// behind the last byte that are not 0, with which one signature would have many texts.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace bic::signing
