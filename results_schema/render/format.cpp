#include "results_schema/render/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "results_schema/error.h"
#include "results_schema/nearest.h"
#include "results_schema/render/html.h"
#include "results_schema/render/junit.h"
#include "results_schema/render/markdown.h"

namespace bic::report {
namespace {

struct Known {
  Format format;
  const char* name;
  const char* file;
};

constexpr std::array kKnown{Known{Format::kHtml, "html", "report.html"},
                            Known{Format::kMarkdown, "markdown", "report.md"},
                            Known{Format::kJunit, "junit", "junit.xml"}};

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Known& k : kKnown) names.emplace_back(k.name);
  return names;
}

}  // namespace

std::string format_names() { return fmt::format("{}", fmt::join(names(), " ")); }

Format format_named(const std::string& text) {
  const auto at = std::ranges::find(kKnown, text, &Known::name);
  if (at != kKnown.end()) return at->format;
  throw UsageError(fmt::format("--format '{}' is none{} (known: {})",
                               text,
                               did_you_mean(text, names()),
                               fmt::join(names(), ", ")));
}

std::string_view file_name(Format format) {
  return std::ranges::find(kKnown, format, &Known::format)->file;
}

std::string rendered(const Report& report, Format format) {
  switch (format) {
    case Format::kMarkdown:
      return markdown(report);
    case Format::kJunit:
      return junit(report);
    case Format::kHtml:
      return html(report);
  }
  return "";
}

}  // namespace bic::report
