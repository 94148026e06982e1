#pragma once

#include <string_view>

namespace bic::report::page {

/// page.html, page.css and page.js, compiled in.
std::string_view template_text();
std::string_view style_text();
std::string_view script_text();

}  // namespace bic::report::page
