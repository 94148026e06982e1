#include <fmt/format.h>

#include "harness/cli/flags.h"
#include "harness/cli/signing_files.h"
#include "results_schema/error.h"

namespace bic {

int certify_verb(const Program&, const Arguments& arguments) {
  CLI::App app("Makes a certificate out of signed reports that a policy accepts.",
               "bi-conform certify");
  std::vector<std::string> envelopes;
  std::string policy_path, key_path, out = "certificate";
  app.add_option("envelope", envelopes, "signed reports, each with its report.json beside it")
      ->required();
  app.add_option("--policy", policy_path, "what is accepted (docs/signing.md)")->required();
  app.add_option("--key", key_path, "private key of one of the policy's certifiers")->required();
  app.add_option("-o,--out", out, "begin of the names of the files to write (certificate)");
  parse(app, arguments);
  const signing::Policy policy = load_policy(policy_path);
  const signing::PrivateKey key = load_private_key(key_path);
  std::vector<signing::VerifiedReport> reports;
  for (const std::string& envelope : envelopes) {
    signing::Answer answer = verify_files({.envelope = envelope}, policy);
    if (!answer.report) {
      throw UsageError(fmt::format("'{}' is a certificate; name signed reports", envelope));
    }
    reports.push_back(std::move(*answer.report));
  }
  const signing::Certificate certificate =
      signing::certify(reports, policy, policy.policy, key.public_key(), current_time());
  save_bundles(
      out, {signing::seal(signing::statement_text(signing::statement_of(certificate)), key)}, key);
  fmt::print("{} on {} profiles and dtypes, {}; expires {}\n",
             name(certificate.level),
             certificate.profiles.size(),
             certificate.device,
             signing::time_text(certificate.expires));
  return 0;
}

}  // namespace bic
