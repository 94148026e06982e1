#include "results_schema/render/format.h"

#include "results_schema/error.h"
#include "results_schema/nearest.h"
#include "results_schema/render/junit.h"
#include "results_schema/render/markdown.h"

namespace bic::report {

Format format_named(const std::string& text) {
  if (text == "markdown") return Format::kMarkdown;
  if (text == "junit") return Format::kJunit;
  const std::vector<std::string> known{"markdown", "junit"};
  throw UsageError("--format '" + text + "' is none" + did_you_mean(text, known) +
                   " (known: markdown, junit)");
}

std::string_view file_name(Format format) {
  return format == Format::kMarkdown ? "report.md" : "junit.xml";
}

std::string rendered(const Report& report, Format format) {
  return format == Format::kMarkdown ? markdown(report) : junit(report);
}

}  // namespace bic::report
