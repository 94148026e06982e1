#include "results_schema/journal_line.h"

#include <nlohmann/json.hpp>

#include "results_schema/json.h"
#include "results_schema/report_json.h"
#include "results_schema/sha256.h"

namespace bic::report {
namespace {

using nlohmann::json;

constexpr std::string_view kOpening = R"({"check":")";
constexpr std::string_view kClosing = R"(",)";
constexpr std::size_t kCheckDigits = 8;
constexpr std::size_t kPrefix = kOpening.size() + kCheckDigits + kClosing.size();

}  // namespace

std::string with_check(const std::string& body) {
  const std::string check = sha256_hex(body).substr(0, kCheckDigits);
  return std::string(kOpening) + check + std::string(kClosing) + body.substr(1);
}

std::string without_check(std::string_view line) {
  if (line.size() <= kPrefix || !line.starts_with(kOpening)) return "";
  const std::string body = "{" + std::string(line.substr(kPrefix));
  return with_check(body) == line ? body : "";
}

std::string header_line(const JournalHeader& h) {
  json line = {{"schema_version", h.schema_version},
               {"facts", h.facts},
               {"command_line", h.command_line},
               {"started", h.started}};
  if (h.detection) {
    line["detection"] = {{"killed", h.detection->killed}, {"faults", h.detection->faults}};
  }
  return canonical_json(line);
}

std::string case_line(const CaseResult& result) { return canonical_json(case_to_json(result)); }

std::string problem_line(const ProblemRecord& p) {
  json line = {{"problem", p.number},
               {"op", p.op},
               {"dtype", name(p.dtype)},
               {"cases", p.cases.size()},
               {"controls", controls_to_json(p.controls)}};
  if (p.worst_error_ppm) line["worst_error_ppm"] = *p.worst_error_ppm;
  if (p.timed) line["timed"] = {{"sha256", p.timed->sha256}, {"bytes", p.timed->bytes}};
  for (const Failure& f : p.failures) line["failures"].push_back(failure_to_json(f));
  if (p.killed_workers > 0) line["killed_workers"] = p.killed_workers;
  return canonical_json(line);
}

std::string timing_line(const RowTiming& t) {
  return canonical_json(json{{"op", t.op}, {"dtype", name(t.dtype)}, {"throughput", t.throughput}});
}

std::string decoder_line(const DecoderRow& row) { return canonical_json(json{{"decoder", row}}); }

}  // namespace bic::report
