#include "results_schema/signing/policy.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "results_schema/json.h"
#include "results_schema/nearest.h"
#include "results_schema/sha256.h"
#include "results_schema/signing/statement.h"
#include "results_schema/vocabulary_json.h"

namespace bic::signing {
namespace {

using nlohmann::json;

constexpr std::array kStrengths{"quick", "standard", "exhaustive"};
constexpr std::array kNeeded{"policy",
                             "reporters",
                             "certifiers",
                             "suites",
                             "strength",
                             "level",
                             "required",
                             "coverage_ppm",
                             "report_days",
                             "certificate_days"};
constexpr std::array kOptional{"revoked", "devices", "nonce", "manifest_sha256", "policies"};

void check_members(const json& object, const std::string& where) {
  std::vector<std::string> known(kNeeded.begin(), kNeeded.end());
  known.insert(known.end(), kOptional.begin(), kOptional.end());
  for (const char* name : kNeeded) {
    if (!object.contains(name)) throw UsageError(where + ": '" + name + "' is missing");
  }
  for (const auto& [name, value] : object.items()) {
    if (name.starts_with("_") || std::ranges::find(known, name) != known.end()) continue;
    throw UsageError(where + ": unknown member " + json(name).dump() + did_you_mean(name, known));
  }
}

std::vector<PublicKey> keys_in(const json& list, const std::string& where) {
  std::vector<PublicKey> keys;
  for (const json& pem : list) {
    keys.push_back(PublicKey::from_pem(pem.get_ref<const std::string&>(),
                                       where + " " + std::to_string(keys.size() + 1)));
  }
  return keys;
}

std::vector<Requirement> requirements_in(const json& list) {
  std::vector<Requirement> required;
  for (const json& one : list) {
    required.push_back({one.at("ops").get<std::vector<std::string>>(),
                        one.at("dtypes").get<std::vector<DType>>()});
  }
  return required;
}

Policy policy_in(const json& object, const std::string& where) {
  const auto texts = [&](const char* name) {
    return object.value(name, std::vector<std::string>());
  };
  return {.policy = object.at("policy").get<std::string>(),
          .reporters = keys_in(object.at("reporters"), where + ": reporters"),
          .certifiers = keys_in(object.at("certifiers"), where + ": certifiers"),
          .suites = texts("suites"),
          .revoked = texts("revoked"),
          .strength = object.at("strength").get<std::string>(),
          .level = object.at("level").get<Level>(),
          .required = requirements_in(object.at("required")),
          .coverage_ppm = object.at("coverage_ppm").get<std::int64_t>(),
          .report_days = object.at("report_days").get<std::int64_t>(),
          .certificate_days = object.at("certificate_days").get<std::int64_t>(),
          .devices = texts("devices"),
          .nonce = object.value("nonce", ""),
          .manifest_sha256 = object.value("manifest_sha256", ""),
          .policies = texts("policies"),
          .sha256 = ""};
}

/// The first thing that makes a policy say less than it seems to; empty when nothing does.
std::string problem_of(const Policy& policy) {
  for (const PublicKey& key : policy.certifiers) {
    const auto same = [&](const PublicKey& k) { return k.pem() == key.pem(); };
    if (std::ranges::any_of(policy.reporters, same)) {
      return "a key is among reporters and certifiers: nobody certifies their own report";
    }
  }
  if (policy.policy.find(':') == std::string::npos) return "'policy' is no URI";
  if (rank_of(policy.strength) < 0) return "unknown strength '" + policy.strength + "'";
  if (policy.coverage_ppm < 0 || policy.coverage_ppm > 1'000'000) {
    return "coverage_ppm is not from 0 to 1000000";
  }
  constexpr std::int64_t kMostDays = 3660;
  for (const std::int64_t days : {policy.report_days, policy.certificate_days}) {
    if (days < 1 || days > kMostDays) return "report_days and certificate_days are from 1 to 3660";
  }
  const bool digests = std::ranges::all_of(policy.policies, is_sha256) &&
                       (policy.manifest_sha256.empty() || is_sha256(policy.manifest_sha256));
  return digests ? "" : "policies and manifest_sha256 are SHA-256, 64 lower-case hex digits";
}

}  // namespace

int rank_of(std::string_view strength) {
  const auto at = std::ranges::find(kStrengths, strength);
  return at == kStrengths.end() ? -1 : static_cast<int>(at - kStrengths.begin());
}

Policy read_policy(std::string_view text, const std::string& where) {
  const json object = read_json(text, where);
  if (!object.is_object()) throw UsageError(where + ": a policy is a JSON object");
  check_members(object, where);
  try {
    Policy policy = policy_in(object, where);
    policy.sha256 = sha256_hex(text);
    const std::string problem = problem_of(policy);
    if (!problem.empty()) throw UsageError(where + ": " + problem);
    return policy;
  } catch (const json::exception& error) {
    throw UsageError(where + ": a member has not the type it should have: " + error.what());
  }
}

}  // namespace bic::signing
