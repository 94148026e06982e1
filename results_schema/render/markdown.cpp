#include "results_schema/render/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "results_schema/count_red.h"
#include "results_schema/render/failure_text.h"
#include "results_schema/render/page.h"
#include "results_schema/render/shell_quoted.h"

namespace bic::report {
namespace {

std::string row_of(const OpRow& r) {
  const std::string error =
      r.worst_error_ppm ? fmt::format("{:.1f} %", *r.worst_error_ppm / 1e4) : "";
  const std::string ratio =
      r.throughput ? fmt::format("{:.2f}×", r.throughput->ratio_ppm / 1e6) : "";
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |",
                     cell_text(r.op),
                     name(r.dtype),
                     name(r.level),
                     r.cases.sum(),
                     count_red(r.cases),
                     error,
                     ratio,
                     cell_text(r.why));
}

void add_rows(Page& page, const Report& report) {
  std::vector<const OpRow*> rows;
  for (const OpRow& row : report.ops) rows.push_back(&row);
  std::ranges::stable_sort(
      rows, std::ranges::greater{}, [](const OpRow* r) { return count_red(r->cases); });
  page.add("\n### Ops\n");
  page.add("| op | dtype | level | cases | red | worst error, of its bound | speed, of stock | |");
  page.add("|---|---|---|--:|--:|--:|--:|---|");
  for (const OpRow* row : rows) page.add(row_of(*row));
}

void add_failures(Page& page, const Report& report) {
  if (report.failures.empty()) return;
  page.add("\n### Failures\n");
  for (const Failure& f : report.failures) {
    const std::string text = failure_text(f.shrunk, "bi-conform", backend_words(report));
    page.add(code_block(text + "\n" + facts_text(f), "text"));
  }
  const auto hidden =
      count_red(report.totals.cases) - static_cast<std::int64_t>(report.failures.size());
  if (hidden > 0) page.add(fmt::format("\n{} more failing cases are in the report.", hidden));
}

void add_waivers(Page& page, const Report& report) {
  if (report.waivers.empty()) return;
  page.add("\n### Waivers\n");
  page.add("| waiver | state | waived cases | reason | owner | expires |");
  page.add("|---|---|--:|---|---|---|");
  for (const WaiverRow& w : report.waivers) {
    page.add(fmt::format("| {} | {} | {} | {} | {} | {} |",
                         cell_text(w.cases()),
                         cell_text(name(w.state)),
                         w.waived,
                         cell_text(w.reason),
                         cell_text(w.owner),
                         w.expires));
  }
}

void add_decoders(Page& page, const Report& report) {
  if (report.decoder.empty()) return;
  page.add("\n### Decoders at temperature 0\n");
  page.add("| decoder | dtype | status | |");
  page.add("|---|---|---|---|");
  for (const DecoderRow& r : report.decoder) {
    page.add(fmt::format("| {} | {} | {} | {} |",
                         cell_text(r.question.preset),
                         name(r.question.dtype),
                         cell_text(name(r.status)),
                         cell_text(r.message)));
  }
}

void add_models(Page& page, const Report& report) {
  if (report.models.empty()) return;
  page.add("\n### Whole models, tensor by tensor\n");
  page.add("| model | preset | dtype | status | |");
  page.add("|---|---|---|---|---|");
  for (const ModelRow& r : report.models) {
    page.add(fmt::format("| {} | {} | {} | {} | {} |",
                         cell_text(r.model),
                         cell_text(r.preset),
                         name(r.dtype),
                         cell_text(name(r.status)),
                         cell_text(r.message)));
  }
}

}  // namespace

std::string backend_words(const Report& report) {
  return shell_quoted(report.subject.backend) + report.run.repro_flags;
}

std::string repro_line(const Report& report, const std::string& case_name) {
  return fmt::format("bi-conform repro '{}' --backend {}", case_name, backend_words(report));
}

std::string markdown(const Report& report) {
  Page page;
  page.add(fmt::format("## bi-conform: {}\n", cell_text(report.verdict.text)));
  const Run& run = report.run;
  page.add(fmt::format("Backend `{}` on {}, {}; suite {}, seed {}, {}; {} cases in {:.1f} s.",
                       report.subject.backend,
                       cell_text(report.subject.device),
                       cell_text(report.environment.cpu),
                       report.suite.version,
                       to_string(run.seed),
                       run.strength,
                       report.totals.planned,
                       static_cast<double>(run.duration_ns) / 1e9));
  if (!run.complete) page.add("\n**Incomplete**: " + cell_text(run.incomplete_reason));
  add_failures(page, report);
  add_waivers(page, report);
  add_decoders(page, report);
  add_models(page, report);
  add_rows(page, report);
  return page.text("report.json");
}

}  // namespace bic::report
