#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results_schema/signing/certificate.h"
#include "results_schema/signing/dsse.h"
#include "results_schema/signing/evidence.h"
#include "results_schema/signing/policy.h"

namespace bic::signing {

/// What is to be verified, and by what.
struct Question {
  std::vector<Envelope> envelopes;  ///< a report's evidence and its twin, or one certificate
  const Policy& policy;
  Seconds now = 0;
  std::optional<std::string_view> report;  ///< text of the report file
  std::optional<Proof> proof;              ///< of one case; then the report may be missing
  std::optional<Artifact> artifact;        ///< the file that is to be the subject
  bool even_expired = false;               ///< a certificate that held every rule until its end
  /// The verdict that follows from a report's rows and totals, as the suite gives it.
  std::function<report::Verdict(const report::Report&)> verdict_of;
};

/// What was accepted. One of the two is there.
struct Answer {
  std::optional<VerifiedReport> report;
  std::optional<report::Report> whole;  ///< the report with its cases, where its file was given
  std::optional<Certificate> certificate;
  std::string keyid;  ///< of the key that is believed
};

/// The name of the report file that the envelopes speak of: what their first payload says, before
/// anything is checked. Empty when it says nothing, or a path.
std::string report_name_in(const std::vector<Envelope>& envelopes);

/// Checks every rule, in the order of the table in rules.cpp. Throws Refusal for the first that
/// does not hold.
Answer verify(const Question& question);

}  // namespace bic::signing
