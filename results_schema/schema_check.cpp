#include "results_schema/schema_check.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace bic {

using Adapter = valijson::adapters::NlohmannJsonAdapter;

struct SchemaCheck::Parsed {
  valijson::Schema schema;
};

namespace {

/// What valijson says of one fault, where it can be said in fewer words.
std::string in_words(const std::string& description) {
  constexpr std::string_view kUnknown = "'additionalProperties' constraints: ";
  const auto at = description.find(kUnknown);
  if (at == std::string::npos) return description;
  const std::string member = description.substr(at + kUnknown.size());
  return "unknown member " + member.substr(0, member.size() - 1);  // its full stop
}

}  // namespace

std::string other_version(const nlohmann::json& file, const char* member, std::int64_t reads) {
  if (!file.is_object() || !file.contains(member)) return "";
  const nlohmann::json& version = file[member];
  if (!version.is_number_integer() || version == reads) return "";
  return "[" + std::string(member) + "]: " + version.dump() + ", and this program reads " +
         std::to_string(reads) + "; read it with the bi-conform that wrote it";
}

SchemaCheck::SchemaCheck(std::string_view schema, std::string what)
    : parsed_(std::make_unique<Parsed>()), what_(std::move(what)) {
  const nlohmann::json text = nlohmann::json::parse(schema);
  valijson::SchemaParser(valijson::SchemaParser::kDraft7)
      .populateSchema(Adapter(text), parsed_->schema);
}

SchemaCheck::~SchemaCheck() = default;

std::string SchemaCheck::error(const nlohmann::json& value) const {
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(parsed_->schema, Adapter(value), &results)) return "";
  // The innermost fault has the longest place; the others only repeat that something inside is bad.
  valijson::ValidationResults::Error worst, error;
  while (results.popError(error)) {
    if (error.context.size() > worst.context.size()) worst = error;
  }
  std::string place;
  for (const std::string& step : worst.context) place += step == "<root>" ? "" : step;
  return (place.empty() ? what_ : place) + ": " + in_words(worst.description);
}

}  // namespace bic
