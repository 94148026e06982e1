#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/flags.h"
#include "results_schema/signing/verify.h"

// What sign, verify, prove, certify and badge read and write.

namespace bic {

/// A private key. Throws UsageError that names the flag --key.
signing::PrivateKey load_private_key(const std::string& path);

signing::Policy load_policy(const std::string& path);

/// The report at that path, or in that folder.
signing::ReportFile load_report_file(const std::string& path);

/// Envelopes of a file. Throws Refusal for what are none, UsageError when it cannot be read.
std::vector<signing::Envelope> load_envelopes(const std::string& path);

/// "folder/report" of "folder/report.json": what the files beside it begin with.
std::filesystem::path without_ending(const std::filesystem::path& path);

/// What is asked about one file of envelopes.
struct VerifyRequest {
  std::string envelope, report, proof, artifact;  ///< paths; all but the first may be empty
  std::optional<signing::Seconds> at;             ///< as of when; none: the clock's
  bool even_expired = false;                      ///< see `signing::Question`
};

/// Reads what the request names and verifies it. The report is looked for beside the envelope
/// unless the request names it or a proof.
signing::Answer verify_files(const VerifyRequest& request, const signing::Policy& policy);

/// Writes envelopes as PREFIX.intoto.jsonl and the first as PREFIX.sigstore.json, and says so.
void save_bundles(const std::filesystem::path& prefix,
                  const std::vector<signing::Envelope>& envelopes,
                  const signing::PrivateKey& key);

/// Now, in seconds since 1970.
signing::Seconds current_time();

}  // namespace bic
