#include "results_schema/report_schema.h"

#include <nlohmann/json.hpp>

#include "results_schema/report.h"
#include "results_schema/schema_check.h"

namespace bic::report {

std::string schema_error(const nlohmann::json& report) {
  const std::string other = other_version(report, "schema_version", kSchemaVersion);
  if (!other.empty()) return other;
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
