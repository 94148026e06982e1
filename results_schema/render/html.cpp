#include "results_schema/render/html.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "results_schema/error.h"
#include "results_schema/render/html/case_table.h"
#include "results_schema/render/html/page_text.h"
#include "results_schema/render/html/trace_plot.h"
#include "results_schema/render/html/view.h"
#include "results_schema/sha256.h"
#include "results_schema/signing/base64.h"
#include "results_schema/trace_schema.h"

namespace bic::report {
namespace {

/// As a content security policy names the text of an element.
std::string policy_hash(std::string_view text) {
  const std::string hex = sha256_hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return signing::to_base64(bytes);
}

std::string case_text(const Report& report) {
  const std::size_t left_out =
      static_cast<std::size_t>(report.totals.planned) - report.cases.size();
  std::string text =
      "Red ones first. Words are looked for in the case string, the status and what was seen.";
  if (left_out > 0) {
    text += fmt::format(" {} that were skipped or unsupported are counted above but not listed.",
                        page::count_text(static_cast<std::int64_t>(left_out)));
  }
  return text;
}

}  // namespace

void check_trace(const nlohmann::json& trace, const std::string& where) {
  if (const std::string error = trace_schema_error(trace); !error.empty()) {
    throw UsageError(where + ": not what `bi-conform trace --json` writes: " + error);
  }
  if (!trace.contains("tensors")) {
    throw UsageError(where + ": an audit, which compares no tensors; trace without --audit");
  }
  const auto first = trace.find("first_divergence");
  if (first == trace.end()) return;
  const nlohmann::json &index = first->at("tensor"), &tensors = trace.at("tensors");
  if (!index.is_number_unsigned() || index.get<std::size_t>() >= tensors.size()) {
    throw UsageError(
        fmt::format("{}: first_divergence names tensor {}, of {} tensors; make it again",
                    where,
                    index.dump(),
                    tensors.size()));
  }
}

std::string html(const Report& report, const nlohmann::json* trace) {
  using namespace page;
  data view;
  add_summary(report, view);
  add_matrix(report, view);
  add_failing_ops(report, view);
  add_error_plot(report, view);
  add_speed_plot(report, view);
  add_op_table(report, view);
  add_facts(report, view);
  view.set("trace", false);
  if (trace != nullptr) add_trace(*trace, view);
  view.set("case_text", case_text(report));
  view.set("cases", case_table(report));
  view.set("style", std::string(style_text()));
  view.set("style_hash", policy_hash(style_text()));
  view.set("script", std::string(script_text()));
  view.set("script_hash", policy_hash(script_text()));
  kainjow::mustache::mustache page_template{std::string(template_text())};
  std::string text = page_template.render(view);
  if (!page_template.is_valid()) {
    throw HarnessError("the template of the page: " + page_template.error_message());
  }
  return text;
}

}  // namespace bic::report
