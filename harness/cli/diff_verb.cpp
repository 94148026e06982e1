#include "harness/cli/diff_verb.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/cli/flags.h"
#include "harness/files/report_file.h"
#include "harness/files/text_file.h"
#include "results_schema/compare/bits.h"
#include "results_schema/error.h"

namespace bic {

report::Report load_compared(const std::string& what, const std::string& path) {
  const std::filesystem::path file = report_file(path);
  report::Report report = report::read_report(read_text(what, file, kLargestReport), file.string());
  if (report.run.shard && report.run.shard->count > 1) {
    throw UsageError(fmt::format(
        "{}: '{}' is one shard of a run; join them first (bi-conform merge)", what, file.string()));
  }
  return report;
}

void show_difference(const report::Comparison& comparison,
                     const std::string& markdown,
                     const std::string& whole) {
  fmt::print("{}", report::difference_text(comparison));
  if (markdown.empty()) return;
  // Who reads the page has the program in another place.
  const report::Comparison page{comparison.before, comparison.now, comparison.difference};
  write_text(markdown, report::difference_markdown(page, whole));
}

int diff_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Compares two reports: what is worse, and what is better (docs/gate.md).",
               "bi-conform diff");
  std::string before_path, now_path, markdown;
  bool bits = false;
  app.add_option("old", before_path, "report.json before, or its folder")->required();
  app.add_option("new", now_path, "report.json now, or its folder")->required();
  app.add_option("--markdown", markdown, "file for the same as a pull request's comment");
  app.add_flag("--bits", bits, "list the cases whose output has other bits")
      ->disable_flag_override();
  parse(app, arguments);
  const report::Report before = load_compared("old", before_path);
  const report::Report now = load_compared("new", now_path);
  const report::Difference difference = report::compare(before, now);
  show_difference({before, now, difference, program.typed},
                  markdown,
                  fmt::format("bi-conform diff {} {}", before_path, now_path));
  if (bits) fmt::print("\n{}", report::bits_text(report::compare_bits(before, now)));
  return static_cast<int>(difference.red() ? ExitCode::kDoesNotConform : ExitCode::kConforms);
}

}  // namespace bic
