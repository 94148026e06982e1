#include "harness/cli/signing_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "harness/files/report_file.h"
#include "harness/files/text_file.h"
#include "harness/judge/verdict.h"
#include "results_schema/error.h"
#include "results_schema/sha256.h"
#include "results_schema/signing/bundle.h"
#include "suites/ops/op_spec.h"

namespace bic {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMiB = 1 << 20;

/// The verdict as this program gives it. Ops that the user declared count too, and whole models,
/// which not every build has, where the report counts them: no report may count fewer ops.
report::Verdict verdict_of(const report::Report& report) {
  const auto own = std::ranges::count_if(
      registry(), [](const OpSpec& op) { return op.declared_sha256.empty() && op.suite.empty(); });
  const auto least = own + static_cast<std::int64_t>(report.suite.declared.size());
  return make_verdict(report, report.run.target, std::max(report.verdict.ops_total, least));
}

/// Where the report lies; empty when there is no such file.
fs::path report_path(const VerifyRequest& request,
                     const std::vector<signing::Envelope>& envelopes) {
  if (!request.report.empty()) return request.report;
  const std::string name = signing::report_name_in(envelopes);
  const fs::path beside = fs::path(request.envelope).parent_path() / name;
  std::error_code unreadable;
  return !name.empty() && fs::is_regular_file(beside, unreadable) ? beside : fs::path();
}

}  // namespace

signing::PrivateKey load_private_key(const std::string& path) {
  return signing::PrivateKey::from_pem(read_text("--key", path, kMiB),
                                       fmt::format("--key: '{}'", path));
}

signing::Policy load_policy(const std::string& path) {
  return signing::read_policy(read_text("--policy", path, kMiB), path);
}

signing::ReportFile load_report_file(const std::string& path) {
  const fs::path file = report_file(path);
  return signing::read_report_file(file.filename().string(),
                                   read_text("report", file, kLargestReport));
}

std::vector<signing::Envelope> load_envelopes(const std::string& path) {
  return signing::read_bundle(read_text("envelope", path, signing::kLargestBundle), path);
}

fs::path without_ending(const fs::path& path) { return path.parent_path() / path.stem(); }

signing::Answer verify_files(const VerifyRequest& request, const signing::Policy& policy) {
  signing::Question question{.envelopes = load_envelopes(request.envelope),
                             .policy = policy,
                             .now = request.at ? *request.at : current_time(),
                             .report = {},
                             .proof = {},
                             .artifact = {},
                             .even_expired = request.even_expired,
                             .verdict_of = verdict_of};
  std::string text;
  if (const fs::path path = report_path(request, question.envelopes); !path.empty()) {
    text = read_text("--report", path, kLargestReport);
    question.report = text;
  }
  if (!request.proof.empty()) {
    question.proof = signing::read_proof(read_text("--proof", request.proof, kMiB), request.proof);
  }
  if (!request.artifact.empty()) {
    question.artifact = {request.artifact, sha256_file_hex(request.artifact)};
  }
  return signing::verify(question);
}

void save_bundles(const fs::path& prefix,
                  const std::vector<signing::Envelope>& envelopes,
                  const signing::PrivateKey& key) {
  const std::string lines = prefix.string() + ".intoto.jsonl";
  const std::string bundle = prefix.string() + ".sigstore.json";
  write_text(lines, signing::intoto_bundle(envelopes));
  write_text(bundle, signing::sigstore_bundle(envelopes.front(), key.public_key()));
  fmt::print("{}\n{}\n", lines, bundle);
}

signing::Seconds current_time() { return std::time(nullptr); }

}  // namespace bic
