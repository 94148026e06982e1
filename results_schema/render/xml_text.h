#pragma once

#include <string>

namespace bic::report {

/// The text as XML can hold it: XML 1.0 has no way to write control characters, not even escaped,
/// nor U+FFFE and U+FFFF.
std::string xml_text(std::string text);

}  // namespace bic::report
