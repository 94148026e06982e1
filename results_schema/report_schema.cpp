#include "results_schema/report_schema.h"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace bic::report {
namespace {

using Adapter = valijson::adapters::NlohmannJsonAdapter;

struct ReportSchema {
  ReportSchema() {
    const nlohmann::json text = nlohmann::json::parse(schema_text());
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(text), schema);
  }
  valijson::Schema schema;
};

}  // namespace

std::string schema_error(const nlohmann::json& report) {
  static const ReportSchema kReport;
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(kReport.schema, Adapter(report), &results)) return "";
  // The innermost fault has the longest place; the others only repeat that something inside is bad.
  valijson::ValidationResults::Error worst, error;
  while (results.popError(error)) {
    if (error.context.size() > worst.context.size()) worst = error;
  }
  std::string place;
  for (const std::string& step : worst.context) place += step == "<root>" ? "" : step;
  return (place.empty() ? "report" : place) + ": " + worst.description;
}

}  // namespace bic::report
