#include "results_schema/signing/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/sha256.h"
#include "results_schema/signing/example.h"

namespace bic::signing {
namespace {

using nlohmann::json;

std::string refusal_of(const json& policy) {
  try {
    read_policy(policy.dump(), "policy.json");
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Policy, IsReadAsItIsWritten) {
  Parties parties;
  parties.policy["_why"] = "a comment";
  const std::string text = parties.policy.dump();
  const Policy policy = read_policy(text, "policy.json");
  EXPECT_EQ(policy.policy, "urn:example:policy");
  EXPECT_EQ(policy.reporters.at(0).pem(), parties.reporter.public_key().pem());
  EXPECT_EQ(policy.level, Level::kBatch);
  EXPECT_EQ(policy.required.at(0).dtypes, std::vector{DType::kBFloat16});
  EXPECT_EQ(policy.sha256, sha256_hex(text));
}

TEST(Policy, NeedsEachMember) {
  const Parties parties;
  for (const auto& [name, value] : parties.policy.items()) {
    json less = parties.policy;
    less.erase(name);
    EXPECT_THAT(refusal_of(less), testing::HasSubstr("'" + name + "' is missing"));
  }
}

TEST(Policy, ThatSaysLessThanItSeemsToIsRefused) {
  const Parties parties;
  const std::string pem = parties.reporter.public_key().pem();
  const std::tuple<const char*, json, const char*> wrongs[] = {
      {"reporter", json::array(), R"(unknown member "reporter"; did you mean 'reporters'?)"},
      {"reporters", {"no key"}, "reporters 1: no public key"},
      {"reporters", {1}, "not the type"},
      {"certifiers", {pem}, "nobody certifies their own report"},
      {"policy", "mine", "no URI"},
      {"strength", "strong", "unknown strength 'strong'"},
      {"level", "BI-9", R"(unknown level "BI-9")"},
      {"level", 2, "not the type"},
      {"coverage_ppm", 1'000'001, "coverage_ppm"},
      {"report_days", 0, "from 1 to 3660"},
      {"certificate_days", 1 << 20, "from 1 to 3660"},
      {"required", {{{"ops", {"mm"}}}}, "not the type"},
      {"required", {{{"ops", {"mm"}}, {"dtypes", {"bf17"}}}}, "bf17"},
      {"manifest_sha256", "abc", "SHA-256"},
      {"policies", {"abc"}, "SHA-256"}};
  for (const auto& [name, value, part] : wrongs) {
    json wrong = parties.policy;
    wrong[name] = value;
    const std::string line = refusal_of(wrong);
    EXPECT_THAT(line, testing::HasSubstr(part)) << name;
    EXPECT_EQ(line.find('\n'), line.npos);
  }
  EXPECT_EQ(refusal_of(parties.policy), "");
}

}  // namespace
}  // namespace bic::signing
