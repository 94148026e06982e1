#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results_schema/report.h"
#include "results_schema/signing/statement.h"

namespace bic::signing {

/// A report, and the file that it was read from.
struct ReportFile {
  std::string name;  ///< without its folder
  std::string sha256;
  report::Report report;
};

/// Reads the text of a report file. Throws UsageError as report::read_report.
ReportFile read_report_file(std::string name, std::string_view text);

/// The files that a report is about: the libraries of its subject; a name that stands there twice
/// gets a number. Throws Refusal("subject") when it names none.
std::vector<Artifact> subjects_of(const report::Report& report);

/// Leaf hashes of the Merkle tree over a report's cases, in their order: each of the case's
/// canonical JSON.
std::vector<std::string> case_leaves(const report::Report& report);

/// The report without its cases and failures, as JSON.
nlohmann::json summary_of(const report::Report& report);

/// SHA-256 of the capability manifest, in its canonical text.
std::string manifest_sha256(const report::Subject& subject);

/// The seed that a run has to take when the one who will verify it named a nonce: the first 64 bits
/// of the SHA-256 of manifest digest, ":" and nonce. Neither can then be chosen after the other.
Seed seed_for(const std::string& manifest_sha256, std::string_view nonce);

/// Statement of our own predicate: the report's digest, the Merkle root of its cases, its summary.
Statement evidence_of(const ReportFile& file);

/// The same run as in-toto's test-result v0.1, for other people's policies. A test is an op in a
/// dtype, "mm/bf16"; what is outside the backend's manifest is none.
Statement test_result_of(const ReportFile& file);

/// One case of a report, and what shows that it is among those whose root was signed.
struct Proof {
  report::CaseResult record;
  std::string leaf;
  std::int64_t index = 0;
  std::int64_t count = 0;
  std::vector<std::string> path;
};

/// Of a case string. Throws UsageError when the report has not got the case.
Proof prove(const report::Report& report, const std::string& case_name);

std::string proof_text(const Proof& proof);

/// Throws Refusal("proof") for any other text.
Proof read_proof(std::string_view text, const std::string& where);

}  // namespace bic::signing
