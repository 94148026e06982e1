#include "results_schema/report_schema.h"

#include <nlohmann/json.hpp>

#include "results_schema/report.h"
#include "results_schema/schema_check.h"

namespace bic::report {
namespace {

/// Said before all else: a report of another version has other members too.
std::string version_error(const nlohmann::json& report) {
  if (!report.is_object() || !report.contains("schema_version")) return "";
  const nlohmann::json& version = report["schema_version"];
  if (!version.is_number_integer() || version == kSchemaVersion) return "";
  return "[schema_version]: " + version.dump() + ", and this program reads " +
         std::to_string(kSchemaVersion) + "; read it with the bi-conform that wrote it";
}

}  // namespace

std::string schema_error(const nlohmann::json& report) {
  if (const std::string other = version_error(report); !other.empty()) return other;
  static const SchemaCheck kReport(schema_text(), "report");
  return kReport.error(report);
}

std::string decoder_answer_error(const nlohmann::json& answer) {
  const auto text = [] {
    const auto schema = nlohmann::json::parse(schema_text());
    return nlohmann::json{{"$ref", "#/definitions/decoder_answer"},
                          {"definitions", schema.at("definitions")}}
        .dump();
  };
  static const SchemaCheck kAnswer(text(), "decoder_answer");
  return kAnswer.error(answer);
}

}  // namespace bic::report
