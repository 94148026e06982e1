#include "results_schema/report.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "results_schema/error.h"
#include "results_schema/json.h"
#include "results_schema/report_check.h"
#include "results_schema/report_json.h"
#include "results_schema/report_schema.h"

namespace bic::report {
namespace {

std::string system_reason() { return std::strerror(errno); }

}  // namespace

std::string write_report(const Report& report) {
  nlohmann::json json;
  std::string problem;
  try {
    json = report_to_json(report);
    problem = schema_error(json);
    if (problem.empty()) problem = check_report(report);
  } catch (const UsageError& error) {  // a manifest that is not JSON
    problem = error.what();
  }
  if (!problem.empty()) throw HarnessError("report: not written, it is wrong: " + problem);
  return canonical_json(json) + "\n";
}

Report read_report(std::string_view text, std::string_view where) {
  const nlohmann::json json = read_json(text, where);
  const auto refuse = [&](const std::string& problem) {
    if (!problem.empty()) throw UsageError(std::string(where) + ": " + problem);
  };
  refuse(schema_error(json));
  Report report = report_from_json(json);
  refuse(check_report(report));
  return report;
}

void save_report(const Report& report, const std::filesystem::path& path) {
  const std::string text = write_report(report);
  std::filesystem::path partial = path;
  partial += ".partial";
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  if (!file) {
    throw UsageError("report: cannot create '" + partial.string() + "': " + system_reason() +
                     "; choose another folder with --out");
  }
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(partial, path, error);
  if (file && !error) return;
  const std::string reason = error ? error.message() : system_reason();
  std::filesystem::remove(partial, error);
  throw HarnessError("report: cannot write '" + path.string() + "': " + reason);
}

Report load_report(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    throw UsageError("report: cannot read '" + path.string() + "': " + system_reason());
  }
  return read_report(text, path.string());
}

}  // namespace bic::report
