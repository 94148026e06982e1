#include "results_schema/signing/certificate.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "results_schema/signing/profiles.h"
#include "results_schema/signing/refusal.h"

namespace bic::signing {
namespace {

constexpr std::array kLevels{
    Level::kRepeatable, Level::kBatch, Level::kComposition, Level::kSchedule, Level::kPlatform};

/// Throws unless all say the same of what a certificate says once.
void check_alike(const std::vector<VerifiedReport>& reports) {
  const auto facts = [](const VerifiedReport& r) {
    const report::Report& s = r.summary;
    return std::tuple(
        r.subjects, s.suite.version, s.run.strength, device_class(s.subject), s.environment.isa);
  };
  for (const VerifiedReport& r : reports) {
    if (facts(r) == facts(reports.front())) continue;
    throw Refusal("certificate",
                  "the reports differ in subject, suite, strength, device class or ISA; certify "
                  "them one by one");
  }
}

void check_certifiable(const VerifiedReport& r, const PublicKey& key) {
  const report::Verdict& v = r.summary.verdict;
  // The policy may say less; a certificate never does.
  if (r.summary.run.strength == "quick" || !v.certifiable) {
    const auto& why = v.why_not_certifiable;
    throw Refusal("certificate",
                  "report " + r.report_sha256.substr(0, 12) + " is not certifiable: " +
                      (why.empty() ? r.summary.run.strength : why.front()));
  }
  if (r.keyid == key.keyid()) {
    throw Refusal("certificate", "the key signed the report itself; a verifier has its own");
  }
}

std::vector<ProfileLevel> levels_of(const std::vector<VerifiedReport>& reports) {
  Shown shown;
  for (const VerifiedReport& r : reports) {
    const report::Report& s = r.summary;
    shown.ops.insert(shown.ops.end(), s.ops.begin(), s.ops.end());
    shown.decoder.insert(shown.decoder.end(), s.decoder.begin(), s.decoder.end());
  }
  std::vector<ProfileLevel> levels;
  for (const Profile& profile : profiles()) {
    for (const DType dtype : kAllDTypes) {
      const Level level = level_of(profile, dtype, shown);
      if (level != Level::kNone) levels.push_back({std::string(profile.name), dtype, level});
    }
  }
  return levels;
}

}  // namespace

Certificate certify(const std::vector<VerifiedReport>& reports,
                    const Policy& policy,
                    const std::string& policy_name,
                    const PublicKey& key,
                    Seconds now) {
  const auto own = [&](const PublicKey& k) { return k.pem() == key.pem(); };
  if (!std::ranges::any_of(policy.certifiers, own)) {
    throw Refusal("certificate", "the key is none of the policy's certifiers");
  }
  check_alike(reports);
  const report::Report& first = reports.front().summary;
  Certificate c{.subjects = reports.front().subjects,
                .verifier = "urn:bi-conform:verifier:" + key.keyid(),
                .policies = {{policy_name, policy.sha256}},
                .reports = {},
                .suite = first.suite.version,
                .programs = {},
                .strength = first.run.strength,
                .device = device_class(first.subject),
                .isa = first.environment.isa,
                .level = first.verdict.level,
                .ops_covered = first.verdict.ops_covered,
                .ops_total = first.verdict.ops_total,
                .profiles = levels_of(reports),
                .created = now,
                .expires = now + policy.certificate_days * kDay};
  std::set<std::string> programs;
  for (const VerifiedReport& r : reports) {
    check_certifiable(r, key);
    c.level = std::min(c.level, r.summary.verdict.level);
    c.ops_covered = std::min(c.ops_covered, r.summary.verdict.ops_covered);
    c.reports.push_back(r.report_sha256);
    if (const auto& program = r.summary.suite.program_sha256; !program.empty()) {
      programs.insert(program);
    }
  }
  c.programs.assign(programs.begin(), programs.end());
  return c;
}

namespace {

/// "attention" as a word of a property: capitals, digits and underscores.
std::string word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    word += lower ? static_cast<char>(c - 'a' + 'A') : kept ? c : '_';
  }
  return word;
}

void add_levels(std::vector<std::string>& properties, Level held, const std::string& of) {
  for (const Level level : kLevels) {
    if (level > held) break;
    properties.push_back("BI_CONFORM_LEVEL_" + std::to_string(static_cast<int>(level)) + of);
  }
}

}  // namespace

std::vector<std::string> properties_of(const Certificate& c) {
  std::vector<std::string> properties{
      "BI_CONFORM_SUITE_" + word(c.suite),
      "BI_CONFORM_STRENGTH_" + word(c.strength),
      "BI_CONFORM_VALID_" + std::to_string((c.expires - c.created) / kDay) + "_DAYS"};
  add_levels(properties, c.level, "");
  for (const ProfileLevel& p : c.profiles) {
    add_levels(properties, p.level, "_" + word(p.profile) + "_" + word(name(p.dtype)));
  }
  return properties;
}

}  // namespace bic::signing
