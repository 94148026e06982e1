#include "results_schema/signing/evidence.h"

#include <algorithm>
#include <set>

#include "results_schema/count_red.h"
#include "results_schema/json.h"
#include "results_schema/report_json.h"
#include "results_schema/sha256.h"
#include "results_schema/signing/merkle.h"
#include "results_schema/signing/profiles.h"
#include "results_schema/signing/refusal.h"

namespace bic::signing {
namespace {

using nlohmann::json;

/// "PASSED", "WARNED" where too little was proved, or "FAILED".
std::string_view result_of(const report::Verdict& verdict) {
  if (verdict.conforms) return "PASSED";
  return verdict.exit_code == static_cast<int>(ExitCode::kUnproved) ? "WARNED" : "FAILED";
}

bool has_failed(const report::OpRow& row) {
  return count_red(row.cases) + row.cases[Status::kError] > 0;
}

const char* list_of(const report::OpRow& row, Level target) {
  if (has_failed(row)) return "failedTests";
  return row.level >= target ? "passedTests" : "warnedTests";
}

}  // namespace

ReportFile read_report_file(std::string name, std::string_view text) {
  report::Report report = report::read_report(text, name);
  return {std::move(name), sha256_hex(text), std::move(report)};
}

std::vector<Artifact> subjects_of(const report::Report& report) {
  std::vector<Artifact> subjects;
  std::set<std::string> names;
  for (const report::Library& library : report.subject.libraries) {
    std::string name = library.name;
    for (int n = 2; !names.insert(name).second; ++n) name = library.name + "#" + std::to_string(n);
    subjects.push_back({name, library.sha256});
  }
  if (subjects.empty()) {
    throw Refusal("subject",
                  "the report names no library of '" + report.subject.backend +
                      "', so there is nothing that it could be signed for");
  }
  return subjects;
}

std::vector<std::string> case_leaves(const report::Report& report) {
  std::vector<std::string> leaves;
  leaves.reserve(report.cases.size());
  for (const report::CaseResult& result : report.cases) {
    leaves.push_back(leaf_hash(canonical_json(report::case_to_json(result))));
  }
  return leaves;
}

json summary_of(const report::Report& report) {
  report::Report summary = report;
  summary.cases.clear();
  summary.failures.clear();
  json object = report::report_to_json(summary);
  object.erase("cases");
  return object;
}

std::string manifest_sha256(const report::Subject& subject) {
  return sha256_hex(canonical_json(read_json(subject.manifest, "manifest")));
}

Seed seed_for(const std::string& manifest_sha256, std::string_view nonce) {
  const std::string digest = sha256_hex((manifest_sha256 + ":").append(nonce));
  return parse_seed(std::string_view(digest).substr(0, 16)).value();
}

Statement evidence_of(const ReportFile& file) {
  const report::Report& report = file.report;
  return {.subjects = subjects_of(report),
          .predicate_type = std::string(kEvidenceType),
          .predicate = {
              {"report", descriptor({file.name, file.sha256})},
              {"manifest", descriptor({"capability manifest", manifest_sha256(report.subject)})},
              {"cases",
               {{"count", static_cast<std::int64_t>(report.cases.size())},
                {"merkle_root", merkle_root(case_leaves(report))}}},
              {"summary", summary_of(report)}}};
}

Statement test_result_of(const ReportFile& file) {
  const report::Report& report = file.report;
  const std::string suite = report.suite.name + " " + report.suite.version + " " +
                            report.run.strength + " " + std::string(name(report.run.target));
  json configuration{descriptor({suite, report.run.plan}),
                     descriptor({"capability manifest", manifest_sha256(report.subject)}),
                     descriptor({file.name, file.sha256})};
  if (!report.suite.program_sha256.empty()) {
    configuration.push_back(descriptor({"bi-conform", report.suite.program_sha256}));
  }
  json predicate{{"result", result_of(report.verdict)},
                 {"configuration", configuration},
                 {"passedTests", json::array()},
                 {"warnedTests", json::array()},
                 {"failedTests", json::array()}};
  for (const report::OpRow& row : report.ops) {
    if (!is_claimed(row)) continue;
    predicate[list_of(row, report.run.target)].push_back(row.op + "/" +
                                                         std::string(name(row.dtype)));
  }
  return {subjects_of(report), std::string(kTestResultType), std::move(predicate)};
}

Proof prove(const report::Report& report, const std::string& case_name) {
  const auto at = std::ranges::find(report.cases, case_name, &report::CaseResult::case_name);
  if (at == report.cases.end()) {
    throw UsageError("the report has no case '" + case_name + "'; name one as report.json has it");
  }
  const std::vector<std::string> leaves = case_leaves(report);
  const auto index = static_cast<std::size_t>(at - report.cases.begin());
  return {.record = *at,
          .leaf = leaves[index],
          .index = static_cast<std::int64_t>(index),
          .count = static_cast<std::int64_t>(leaves.size()),
          .path = inclusion_proof(leaves, index)};
}

std::string proof_text(const Proof& proof) {
  return canonical_json({{"case", report::case_to_json(proof.record)},
                         {"index", proof.index},
                         {"count", proof.count},
                         {"path", proof.path}}) +
         "\n";
}

Proof read_proof(std::string_view text, const std::string& where) {
  try {
    const json object = read_json(text, where);
    Proof proof{.record = report::case_from_json(object.at("case")),
                .leaf = leaf_hash(canonical_json(object.at("case"))),
                .index = object.at("index").get<std::int64_t>(),
                .count = object.at("count").get<std::int64_t>(),
                .path = object.at("path").get<std::vector<std::string>>()};
    if (proof.index >= 0 && proof.index < proof.count) return proof;
  } catch (const UsageError& error) {
    throw Refusal("proof", error.what());
  } catch (const json::exception&) {
  }
  throw Refusal("proof", where + " is no proof; bi-conform prove writes one");
}

}  // namespace bic::signing
