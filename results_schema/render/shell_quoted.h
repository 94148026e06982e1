#pragma once

#include <string>

namespace bic {

/// The text as one word of a shell's command line: in quotes where it needs them.
std::string shell_quoted(const std::string& text);

}  // namespace bic
