#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/cli/flags.h"
#include "harness/files/out_folder.h"
#include "harness/files/report_file.h"
#include "harness/files/text_file.h"
#include "harness/run/console.h"
#include "results_schema/error.h"
#include "results_schema/json.h"
#include "results_schema/render/format.h"
#include "results_schema/render/html.h"

namespace bic {
namespace {

/// More than the trace of a model in full size needs.
constexpr std::size_t kMostTrace = std::size_t{1} << 28;

const std::string kConsole = "console";  ///< a format that goes to the terminal, not into a file

struct RenderFlags {
  std::string report, trace, out;
  std::vector<std::string> formats;

  void add_to(CLI::App& app) {
    app.add_option("report", report, "report.json, or the folder of a run")->required();
    app.add_option(
           "--format",
           formats,
           fmt::format("{} (html), or console to print it; repeats", report::format_names()))
        ->allow_extra_args(false);
    app.add_option("--trace", trace, "with html: chart of this file of bi-conform trace --json");
    app.add_option("-o,--out", out, "folder of what is written (that of the report)");
  }
};

/// The files that are asked for.
std::vector<report::Format> files_of(const RenderFlags& flags) {
  std::vector<report::Format> files;
  for (const std::string& text : flags.formats) {
    if (text != kConsole) files.push_back(report::format_named(text));
  }
  if (flags.formats.empty()) files.push_back(report::Format::kHtml);
  const bool has_html = std::ranges::find(files, report::Format::kHtml) != files.end();
  if (!flags.trace.empty() && !has_html) {
    throw UsageError(fmt::format("--trace '{}': only --format html draws it", flags.trace));
  }
  return files;
}

nlohmann::json read_trace(const std::string& path) {
  const std::string where = fmt::format("--trace '{}'", path);
  nlohmann::json trace = read_json(read_text("--trace", path, kMostTrace), where);
  report::check_trace(trace, where);
  return trace;
}

}  // namespace

/// Returns 0: to print a verdict is not to give one (`gate` does).
int render_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Makes pages and tables of a report.", "bi-conform render");
  RenderFlags flags;
  flags.add_to(app);
  parse(app, arguments);
  const std::vector<report::Format> files = files_of(flags);
  const std::filesystem::path path = report_file(flags.report);
  const report::Report report = report::load_report(path);
  const nlohmann::json trace = flags.trace.empty() ? nullptr : read_trace(flags.trace);
  const std::filesystem::path folder =
      flags.out.empty() ? path.parent_path() : std::filesystem::path(flags.out);
  if (!flags.out.empty()) make_out_folder(folder);
  if (std::ranges::find(flags.formats, kConsole) != flags.formats.end()) {
    Console(stdout, program.typed, report.run.repro_flags).whole(report, path.string());
  }
  for (const report::Format format : files) {
    const bool traced = format == report::Format::kHtml && !trace.is_null();
    const std::filesystem::path file = folder / file_name(format);
    write_text(file, traced ? report::html(report, &trace) : rendered(report, format));
    std::cout << file.string() << '\n';
  }
  return 0;
}

}  // namespace bic
