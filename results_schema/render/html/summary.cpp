#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "results_schema/case_name.h"
#include "results_schema/count_red.h"
#include "results_schema/error.h"
#include "results_schema/op_rows.h"
#include "results_schema/render/html/view.h"

namespace bic::report::page {
namespace {

/// Under what a sample kept its bits, at the level that was asked for.
const char* kept_under(Level level) {
  switch (level) {
    case Level::kNone:
    case Level::kRepeatable:
      return "when it was run again";
    case Level::kBatch:
      return "whatever the size of its batch and its place in it";
    case Level::kComposition:
      return "whatever its batch, its neighbours and its layout";
    case Level::kSchedule:
    case Level::kPlatform:
      return "whatever its batch, its neighbours, its layout and the number of threads";
  }
  return "";
}

/// The ops of which a sample had other bits in a batch than alone.
std::set<std::string> ops_that_move(const Report& report) {
  std::set<std::string> ops;
  for (const CaseResult& c : report.cases) {
    const bool bits = std::ranges::any_of(
        c.reasons, [](Reason r) { return r == Reason::kBits || r == Reason::kNanBits; });
    if (!bits || !is_red(c.status)) continue;
    const CaseName named = parse_case_name(c.case_name);
    if (named.relation == "alone" || named.relation == "twins") ops.insert(named.op);
  }
  return ops;
}

/// Ops that are in the manifest in some dtype.
std::int64_t claimed_ops(const Report& report) {
  return std::ranges::count_if(by_op(report), [&](const OpRows& op) {
    return std::ranges::any_of(op.rows,
                               [&](std::size_t row) { return is_in_manifest(report.ops[row]); });
  });
}

std::int64_t red_ops(const Report& report) {
  return std::ranges::count_if(by_op(report), [&](const OpRows& op) {
    return std::ranges::any_of(
        op.rows, [&](std::size_t row) { return count_red(report.ops[row].cases) > 0; });
  });
}

/// "1 op", "1,234 ops".
std::string counted(std::int64_t count, const char* thing) {
  return fmt::format("{} {}{}", count_text(count), thing, count == 1 ? "" : "s");
}

/// The plain sentence of a run in which something is red.
std::string failing_sentence(const Report& report) {
  const std::int64_t red = red_ops(report);
  if (red == 0) return "No op failed, but something else that was asked for did.";
  std::string text = fmt::format("{} of {} failed.", red, counted(claimed_ops(report), "op"));
  const auto moving = static_cast<std::int64_t>(ops_that_move(report).size());
  if (moving > 0) {
    text += fmt::format(
        " In {} a sample's bits change with the batch that it is in, so the same request can get "
        "another answer when others share its batch.",
        moving == red ? red == 1 ? "it" : "each of them" : fmt::format("{} of them", moving));
  }
  return text;
}

/// "2 cases and 1 decoder and 1 model"; empty where nothing is waived.
std::string waived_text(const Report& report) {
  std::vector<std::string> parts;
  if (const auto cases = report.totals.cases[Status::kWaived]; cases > 0)
    parts.push_back(counted(cases, "case"));
  const auto decoders = std::ranges::count(report.decoder, Status::kWaived, &DecoderRow::status);
  if (decoders > 0) parts.push_back(counted(decoders, "decoder"));
  const auto models = std::ranges::count(report.models, Status::kWaived, &ModelRow::status);
  if (models > 0) parts.push_back(counted(models, "model"));
  return fmt::format("{}", fmt::join(parts, " and "));
}

/// Of a run that conforms without an op.
std::string whole_models_sentence(const Report& report) {
  std::vector<std::string> parts;
  const auto decoders = std::ranges::count(report.decoder, Status::kPass, &DecoderRow::status);
  if (decoders > 0) {
    parts.push_back(fmt::format("A prompt had one answer whoever else was served, on {}.",
                                counted(decoders, "decoder")));
  }
  const auto models = std::ranges::count(report.models, Status::kPass, &ModelRow::status);
  if (models > 0) {
    parts.push_back(
        fmt::format("Every tensor of {} is within its bound.", counted(models, "model")));
  }
  return parts.empty() ? report.verdict.text : fmt::format("{}", fmt::join(parts, " "));
}

std::string conforming_sentence(const Report& report) {
  const Verdict& v = report.verdict;
  if (const std::string waived = waived_text(report); !waived.empty()) {
    return fmt::format("Nothing failed but what is waived, {}: somebody answers for it.", waived);
  }
  if (v.ops_covered == 0) return whole_models_sentence(report);
  return fmt::format(
      "Every sample kept its bits {}, on {}.", kept_under(v.level), counted(v.ops_covered, "op"));
}

std::string sentence(const Report& report) {
  switch (static_cast<ExitCode>(report.verdict.exit_code)) {
    case ExitCode::kConforms:
      return conforming_sentence(report);
    case ExitCode::kDoesNotConform:
      return failing_sentence(report);
    case ExitCode::kUnproved:
      return "Nothing failed, but too little was shown to say that it conforms.";
    default:
      return "The harness could not do its own work, so this run says nothing of the backend.";
  }
}

data verdict(const Report& report) {
  data v;
  switch (static_cast<ExitCode>(report.verdict.exit_code)) {
    case ExitCode::kConforms:
      v = object{{"state", "ok"}, {"mark", "✓"}, {"word", "Conforms"}};
      break;
    case ExitCode::kDoesNotConform:
      v = object{{"state", "red"}, {"mark", "✕"}, {"word", "Does not conform"}};
      break;
    case ExitCode::kUnproved:
      v = object{{"state", "weak"}, {"mark", "?"}, {"word", "Not proved"}};
      break;
    default:
      v = object{{"state", "weak"}, {"mark", "!"}, {"word", "No verdict"}};
  }
  v.set("sentence", sentence(report));
  v.set("text", report.verdict.text);
  return v;
}

list tiles(const Report& report) {
  const auto count = [&](Status s) { return count_text(report.totals.cases[s]); };
  list tiles;
  const auto add = [&](const char* label, const std::string& value) {
    tiles.push_back(object{{"label", label}, {"value", value}});
  };
  add("level of the whole run", std::string(name(report.verdict.level)));
  add("ops that failed", fmt::format("{} of {}", red_ops(report), claimed_ops(report)));
  add("cases", count_text(report.totals.planned));
  add("passed", count(Status::kPass));
  add("red", count_text(count_red(report.totals.cases)));
  add("strength", report.run.strength);
  return tiles;
}

/// A bar whose parts are the statuses, those that are there.
void add_tally(const Report& report, data& page) {
  const double all = static_cast<double>(std::max<std::int64_t>(1, report.totals.cases.sum()));
  double x = 0;
  list parts;
  std::vector<std::string> texts;
  for (const Status s : {Status::kPass,
                         Status::kFail,
                         Status::kUnstable,
                         Status::kCrash,
                         Status::kTimeout,
                         Status::kBlocked,
                         Status::kRefused,
                         Status::kUnexpectedPass,
                         Status::kError,
                         Status::kVacuous,
                         Status::kWaived,
                         Status::kUnsupported,
                         Status::kSkipped}) {
    const std::int64_t count = report.totals.cases[s];
    if (count == 0) continue;
    const double width = 1000.0 * static_cast<double>(count) / all;
    std::string label(name(s));
    std::ranges::replace(label, '_', ' ');
    parts.push_back(object{{"status", std::string(name(s))},
                           {"label", label},
                           {"count", count_text(count)},
                           {"x", length_text(x)},
                           {"width", length_text(width)}});
    texts.push_back(count_text(count) + " " + label);
    x += width;
  }
  page.set("tally", parts);
  page.set("tally_text", fmt::format("{}.", fmt::join(texts, ", ")));
}

}  // namespace

void add_summary(const Report& report, data& page) {
  page.set("backend", report.subject.backend);
  page.set("device", report.subject.device);
  page.set("suite_version", report.suite.version);
  page.set("peer", report.peer ? data(report.peer->backend) : data(false));
  page.set("incomplete", report.run.complete ? data(false) : data(report.run.incomplete_reason));
  page.set("target", std::string(name(report.run.target)));
  page.set("verdict", verdict(report));
  page.set("tiles", tiles(report));
  add_tally(report, page);
}

}  // namespace bic::report::page
