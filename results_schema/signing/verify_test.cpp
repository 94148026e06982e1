#include "results_schema/signing/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/sha256.h"
#include "results_schema/signing/example.h"
#include "results_schema/signing/refusal.h"

namespace bic::signing {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class Verify : public testing::Test {
 protected:
  Policy policy() const { return read_policy(parties_.policy.dump(), "policy.json"); }
  Submission submitted(const report::Report& report = good_report()) const {
    return submit(report, parties_.reporter);
  }
  std::string refusal(const report::Report& report) const {
    return refusal_of(submitted(report), policy());
  }

  /// The evidence with another payload, by the reporter's own key.
  Submission resigned(const std::function<void(json&)>& change) const {
    Submission s = submitted();
    json payload = json::parse(s.envelopes[0].payload);
    change(payload);
    s.envelopes = {seal(payload.dump(), parties_.reporter)};
    return s;
  }

  Parties parties_;
};

TEST_F(Verify, AcceptsAGoodReport) {
  const Answer answer = accept(submitted(), policy());
  EXPECT_EQ(answer.keyid, parties_.reporter.public_key().keyid());
  EXPECT_EQ(answer.report->summary.verdict.level, Level::kBatch);
  EXPECT_EQ(answer.whole->cases.size(), 10U);
  EXPECT_FALSE(answer.certificate);
  Submission alone = submitted();
  alone.envelopes.pop_back();
  EXPECT_EQ(refusal_of(alone, policy()), "") << "the twin is for others";
}

TEST_F(Verify, BelievesNoOtherKey) {
  const std::string why = "signature: no key of the policy made it";
  EXPECT_EQ(refusal_of(submit(good_report(), PrivateKey::generate(KeyType::kP256)), policy()), why);
  EXPECT_EQ(refusal_of(submit(good_report(), parties_.certifier), policy()),
            "role: a report is signed by a certifier's key");
  Submission edited = submitted();
  edited.envelopes[0].payload[20] ^= 1;
  EXPECT_EQ(refusal_of(edited, policy()), why);
}

TEST_F(Verify, RefusesAnEditedReportFile) {
  Submission edited = submitted();
  edited.report.replace(edited.report.find("BI-1 on 1"), 4, "BI-3");
  EXPECT_THAT(refusal_of(edited, policy()), StartsWith("report: its file has sha256 "));
  Submission missing = submitted();
  EXPECT_THROW(verify({.envelopes = missing.envelopes, .policy = policy(), .now = kStarted}),
               Refusal);
}

// The submitter holds the key and signs what they like.
TEST_F(Verify, RefusesASignedReportThatContradictsItself) {
  report::Report report = good_report();
  report.verdict.level = Level::kSchedule;
  EXPECT_EQ(
      refusal(report),
      R"(verdict: the report says "BI-1 on 1 of 1 ops", but its rows come to "BI-1 on 1 of 1 ops")");
  report = good_report();
  report.ops[0].relations[0].passed = 11;
  EXPECT_THAT(refusal(report), StartsWith(R"(rows: mm bf16: the row of "alone")"));
}

TEST_F(Verify, RefusesADroppedCaseAndCountersThatDoNotAddUp) {
  const std::string text = submitted().report;
  for (const auto& [path, change] : std::vector<std::pair<const char*, std::function<void(json&)>>>{
           {"dropped", [](json& r) { r["cases"].erase(3); }},
           {"counters", [](json& r) { r["totals"]["pass"] = 9; }}}) {
    json report = json::parse(text);
    change(report);
    Submission forged = submitted();
    forged.report = report.dump();
    json payload = json::parse(forged.envelopes[0].payload);
    payload["predicate"]["report"]["digest"]["sha256"] = sha256_hex(forged.report);
    forged.envelopes = {seal(payload.dump(), parties_.reporter)};
    EXPECT_THAT(refusal_of(forged, policy()), StartsWith("counters: totals: ")) << path;
  }
}

TEST_F(Verify, RefusesEvidenceThatIsNotOfItsReport) {
  const std::pair<std::function<void(json&)>, const char*> changes[] = {
      {[](json& p) { p["_type"] = "https://in-toto.io/Statement/v0.1"; }, "statement: its _type"},
      {[](json& p) { p["predicateType"] = "urn:other"; }, "predicate: type \"urn:other\""},
      {[](json& p) { p["subject"][0]["digest"]["sha256"] = std::string(64, 'e'); }, "subject: "},
      {[](json& p) { p["subject"].push_back(p["subject"][0]); }, "statement: subject "},
      {[](json& p) { p["subject"] = json::array(); }, "statement: it has no subject"},
      {[](json& p) { p["predicate"]["summary"]["run"]["seed"] = std::string(16, '0'); },
       "summary: "},
      {[](json& p) { p["predicate"]["summary"].erase("run"); }, "schema: summary: "},
      {[](json& p) { p["predicate"]["cases"]["count"] = 9; }, "merkle: the report has 10 cases"},
      {[](json& p) { p["predicate"]["cases"]["merkle_root"] = std::string(64, '0'); }, "merkle: "},
      {[](json& p) { p["predicate"]["manifest"]["digest"]["sha256"] = std::string(64, '0'); },
       "manifest: "},
      {[](json& p) { p["predicate"].erase("cases"); }, "predicate: /cases/count"},
      {[](json& p) { p["predicate"].erase("report"); }, "predicate: /report/digest/sha256"}};
  for (const auto& [change, begin] : changes) {
    EXPECT_THAT(refusal_of(resigned(change), policy()), StartsWith(begin));
  }
}

TEST_F(Verify, RefusesATwinThatSaysMore) {
  Submission s = submitted();
  report::Report better = good_report();
  better.ops[0].op = "bmm";
  s.envelopes[1] = submitted(better).envelopes[1];
  EXPECT_THAT(refusal_of(s, policy()), StartsWith("twin: "));
  s.envelopes[1] = s.envelopes[0];
  EXPECT_THAT(refusal_of(s, policy()), StartsWith("contents: "));
}

TEST_F(Verify, RefusesEnvelopesOfDifferentReporters) {
  const PrivateKey other = PrivateKey::generate(KeyType::kEd25519);
  parties_.policy["reporters"].push_back(other.public_key().pem());
  Submission s = submitted();
  s.envelopes[1] = submit(good_report(), other).envelopes[1];
  EXPECT_EQ(refusal_of(s, policy()), "signature: the envelopes are signed by different keys");
}

TEST_F(Verify, RefusesASwappedArtifact) {
  Question question{.envelopes = submitted().envelopes, .policy = policy(), .now = kStarted};
  const std::string report = submitted().report;
  question.report = report;
  question.artifact = {"libtorch_cpu.so", std::string(64, 'a')};
  EXPECT_NO_THROW(verify(question));
  question.artifact->sha256[0] = 'b';
  try {
    verify(question);
    ADD_FAILURE() << "accepted";
  } catch (const Refusal& refusal) {
    EXPECT_THAT(refusal.what(), StartsWith(R"(artifact: "libtorch_cpu.so")"));
  }
}

TEST_F(Verify, AsksForWhatThePolicyAsks) {
  const std::tuple<const char*, json, const char*> asked[] = {
      {"suites", {"0.2.0"}, R"(suite: version "0.1.0" is none)"},
      {"revoked", {"0.1.0"}, R"(revoked: suite version "0.1.0")"},
      {"revoked", {std::string(64, '5')}, "revoked: program"},
      {"strength", "exhaustive", R"(strength: "standard"; the policy asks for exhaustive)"},
      {"level", "BI-2", "level: BI-1; the policy asks for BI-2"},
      {"required", {{{"ops", {"mm", "bmm"}}, {"dtypes", {"bf16"}}}}, "required: bmm bf16"},
      {"required", {{{"ops", {"mm"}}, {"dtypes", {"fp16"}}}}, "required: mm fp16"},
      {"devices", {"cuda"}, R"(device: "cpu" is none)"},
      {"nonce", "fresh", "seed: 9f3c51d20b7e4a11 is not the one"},
      {"manifest_sha256", std::string(64, '0'), "manifest: "}};
  for (const auto& [name, value, begin] : asked) {
    Parties parties = parties_;
    parties.policy[name] = value;
    const Policy policy = read_policy(parties.policy.dump(), "policy.json");
    EXPECT_THAT(refusal_of(submitted(), policy), StartsWith(begin)) << name;
  }
}

TEST_F(Verify, TakesTheSeedThatFollowsFromTheNonce) {
  parties_.policy["nonce"] = "fresh";
  report::Report report = good_report();
  report.run.seed = seed_for(manifest_sha256(report.subject), "fresh");
  EXPECT_EQ(refusal(report), "");
  EXPECT_NE(seed_for(manifest_sha256(report.subject), "other"), report.run.seed);
}

TEST_F(Verify, RefusesRunsThatSayTooLittle) {
  report::Report report = good_report();
  report.run.complete = false;
  report.run.incomplete_reason = "budget";
  EXPECT_EQ(refusal(report), R"(complete: the run is incomplete: "budget")");
  report = good_report();
  report.run.strength = report.verdict.strength = "quick";
  report.verdict.certifiable = false;
  report.verdict.why_not_certifiable = {"quick"};
  EXPECT_THAT(refusal(report), StartsWith(R"(strength: "quick"; the policy asks for standard)"));
  report = good_report();
  report.cases[0].status = Status::kFail;
  report.cases[0].reasons = {Reason::kBits};
  report.ops[0].cases[Status::kPass] = report.totals.cases[Status::kPass] = 9;
  report.ops[0].cases[Status::kFail] = report.totals.cases[Status::kFail] = 1;
  report.ops[0].relations[0].passed = 9;
  report.ops[0].relations[0].failed = 1;
  report.verdict = plain_verdict(report);
  EXPECT_EQ(refusal(report), R"(conforms: "does not conform")");
}

TEST_F(Verify, TakesAReportForItsDaysOnly) {
  EXPECT_EQ(refusal_of(submitted(), policy(), kStarted + 30 * kDay), "");
  EXPECT_THAT(refusal_of(submitted(), policy(), kStarted + 30 * kDay + 1),
              StartsWith("freshness: "));
  EXPECT_THAT(refusal_of(submitted(), policy(), kStarted - kDay), StartsWith("freshness: "));
}

TEST_F(Verify, ShowsOneCaseWithoutTheOthers) {
  const report::Report report = good_report();
  Question question{.envelopes = submitted().envelopes, .policy = policy(), .now = kStarted};
  for (const report::CaseResult& result : report.cases) {
    question.proof = read_proof(proof_text(prove(report, result.case_name)), "proof");
    EXPECT_FALSE(verify(question).whole);
  }
  json forged = json::parse(proof_text(prove(report, report.cases[2].case_name)));
  forged["case"]["digest"] = "01ff";
  question.proof = read_proof(forged.dump(), "proof");
  try {
    verify(question);
    ADD_FAILURE() << "accepted";
  } catch (const Refusal& refusal) {
    EXPECT_THAT(refusal.what(), StartsWith("proof: case "));
  }
  EXPECT_THROW(prove(report, "mm"), UsageError);
  for (const char* text : {"", "{}", R"({"case":1})", "[]"}) {
    EXPECT_THROW(read_proof(text, "proof"), Refusal) << text;
  }
}

}  // namespace
}  // namespace bic::signing
