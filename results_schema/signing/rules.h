#pragma once

// Internal: the rules of a verification, behind signature and statement.

#include <span>

#include "results_schema/signing/verify.h"

namespace bic::signing {

/// What the rules look at. Reports and certificates share what both claim.
struct Facts {
  const Question& question;
  Statement statement;
  std::optional<Statement> twin;

  std::optional<report::Report> summary;  ///< of evidence: what it says of its report
  std::optional<report::Report> report;   ///< of evidence whose report file is there
  std::string report_sha256;
  std::optional<Certificate> certificate;

  std::string suite, strength, device;
  std::vector<std::string> programs;
  Level level = Level::kNone;
};

enum class Concerns { kReport, kCertificate, kBoth };

struct Rule {
  const char* name;
  Concerns concerns;
  /// What is wrong, in the end of a line; empty when nothing is.
  std::string (*problem)(const Facts& facts);
};

/// In the order in which they are checked.
std::span<const Rule> rules();

}  // namespace bic::signing
