#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results_schema/signing/key.h"
#include "results_schema/vocabulary.h"

namespace bic::signing {

/// Ops that must hold the policy's level in each of the dtypes.
struct Requirement {
  std::vector<std::string> ops;
  std::vector<DType> dtypes;
};

/// What somebody accepts: a JSON file, whose members have these names (docs/signing.md says what
/// each is for). Members that begin with "_" are comments.
struct Policy {
  std::string policy;                 ///< URI that names it
  std::vector<PublicKey> reporters;   ///< keys that may sign reports
  std::vector<PublicKey> certifiers;  ///< keys that may sign certificates; none of the reporters
  std::vector<std::string> suites;    ///< versions of the suite
  std::vector<std::string> revoked;   ///< versions, or SHA-256 of programs, that count no more
  std::string strength;               ///< at least
  Level level = Level::kNone;         ///< at least
  std::vector<Requirement> required;
  std::int64_t coverage_ppm = 0;      ///< problems that counted, of those required, at least
  std::int64_t report_days = 0;       ///< a report is accepted so long
  std::int64_t certificate_days = 0;  ///< a certificate is made out for so long
  std::vector<std::string> devices;   ///< device classes; none: any
  std::string nonce;                  ///< from which the seed must follow; empty: any seed
  std::string manifest_sha256;        ///< of the capability manifest; empty: any
  std::vector<std::string> policies;  ///< SHA-256 of other policies whose certificates count

  std::string sha256;  ///< of the file
};

/// Throws UsageError in one line for a text that is no policy.
Policy read_policy(std::string_view text, const std::string& where);

/// Place of a strength among quick, standard and exhaustive; -1 for another word.
int rank_of(std::string_view strength);

}  // namespace bic::signing
