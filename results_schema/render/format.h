#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results_schema/report.h"

namespace bic::report {

/// What a report is written as for other programs, from the report alone.
enum class Format : std::uint8_t {
  kMarkdown,  ///< a page for a pull request or a wiki
  kJunit,     ///< what GitHub, GitLab and Jenkins read of tests
  kHtml,      ///< one page for a browser, with plots
};

/// "html markdown junit", for a flag's help.
std::string format_names();

/// Throws UsageError that names the nearest known one: "html", "markdown", "junit".
Format format_named(const std::string& text);

/// "report.md", "junit.xml", "report.html".
std::string_view file_name(Format format);

/// The text, whole.
std::string rendered(const Report& report, Format format);

}  // namespace bic::report
