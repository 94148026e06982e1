#include "results_schema/render/xml_text.h"

namespace bic::report {

std::string xml_text(std::string text) {
  for (char& c : text) {
    const bool control = static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t';
    if (control) c = '?';
  }
  for (const char* none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (auto at = text.find(none); at != std::string::npos; at = text.find(none)) {
      text.replace(at, 3, "?");
    }
  }
  return text;
}

}  // namespace bic::report
