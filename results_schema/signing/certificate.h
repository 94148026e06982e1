#pragma once

#include <string>
#include <vector>

#include "results_schema/report.h"
#include "results_schema/signing/policy.h"
#include "results_schema/signing/statement.h"
#include "results_schema/signing/time.h"

namespace bic::signing {

/// What a profile holds in a dtype; see profiles.h.
struct ProfileLevel {
  std::string profile;
  DType dtype = DType::kFloat32;
  Level level = Level::kNone;
};

/// What a verifier, who is not the one who ran the suite, says of the subject's files: an in-toto
/// Simple Verification Result with a member `bi_conform` of our own beside its `properties`.
struct Certificate {
  std::vector<Artifact> subjects;
  std::string verifier;               ///< URI of who certifies
  std::vector<Artifact> policies;     ///< under which
  std::vector<std::string> reports;   ///< SHA-256 of the report files that it rests on
  std::string suite;                  ///< version
  std::vector<std::string> programs;  ///< SHA-256 of what judged; may be empty
  std::string strength;
  std::string device;  ///< class
  std::string isa;
  Level level = Level::kNone;    ///< of all that the backend claims
  std::int64_t ops_covered = 0;  ///< ops that hold it
  std::int64_t ops_total = 0;    ///< ops of the suite
  std::vector<ProfileLevel> profiles;
  Seconds created = 0;
  Seconds expires = 0;
};

/// A report that held all rules of the policy: all of it but its cases.
struct VerifiedReport {
  report::Report summary;
  std::string report_sha256;
  std::vector<Artifact> subjects;
  std::string keyid;  ///< of its signer
};

/// Made from reports of the same files by the same suite on the same class of device; a level is
/// the least of all. `key` must be one of the policy's certifiers and have signed none of them.
/// Throws Refusal("certificate"), also for a report that is not certifiable by itself: quick,
/// filtered, cut.
Certificate certify(const std::vector<VerifiedReport>& reports,
                    const Policy& policy,
                    const std::string& policy_name,
                    const PublicKey& key,
                    Seconds now);

/// "BI_CONFORM_LEVEL_2_ATTENTION_BF16" and the like, for consumers that know no other member: every
/// level that is held, not only the highest.
std::vector<std::string> properties_of(const Certificate& certificate);

Statement statement_of(const Certificate& certificate);

/// Throws Refusal("predicate") for a statement that lacks a member, and where `properties` say
/// other things than the rest.
Certificate read_certificate(const Statement& statement);

}  // namespace bic::signing
