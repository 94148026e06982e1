#include "results_schema/signing/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/signing/example.h"
#include "results_schema/signing/profiles.h"
#include "results_schema/signing/refusal.h"

namespace bic::signing {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr Seconds kIssued = kStarted + kDay;

/// A report in which everything of `attention` and `softmax` holds, and of `norm` not all.
report::Report broad_report() {
  report::Report r = good_report();
  const report::OpRow row = r.ops[0];
  const std::tuple<const char*, Level, bool> rows[] = {
      {"scaled_dot_product_attention", Level::kComposition, true},
      {"softmax", Level::kBatch, true},
      {"log_softmax", Level::kSchedule, true},
      {"log_softmax_fp32", Level::kSchedule, true},
      {"logsumexp", Level::kSchedule, true},
      {"rms_norm", Level::kSchedule, true},
      {"layer_norm", Level::kNone, false}};
  for (const auto& [op, level, claimed] : rows) {
    report::OpRow other = row;
    other.op = op;
    other.level = level;
    other.cases = {};
    other.cases[claimed ? Status::kPass : Status::kUnsupported] = 1;
    r.ops.push_back(other);
  }
  return r;
}

class Certify : public testing::Test {
 protected:
  VerifiedReport verified(report::Report report = broad_report()) const {
    return {std::move(report),
            std::string(64, 'd'),
            {{"libtorch_cpu.so", std::string(64, 'a')}},
            parties_.reporter.public_key().keyid()};
  }
  Policy policy() const { return read_policy(parties_.policy.dump(), "policy.json"); }
  Certificate certificate(const std::vector<VerifiedReport>& reports) const {
    return certify(
        reports, policy(), "urn:example:policy", parties_.certifier.public_key(), kIssued);
  }
  Submission issued(const Certificate& c, const PrivateKey& key) const {
    return {"", {seal(statement_text(statement_of(c)), key)}};
  }
  std::string refusal(const std::vector<VerifiedReport>& reports) const {
    try {
      certificate(reports);
      return "";
    } catch (const Refusal& refusal) {
      return refusal.what();
    }
  }

  Parties parties_;
};

TEST_F(Certify, SaysTheLeastLevelOfEachProfileThatIsClaimedWhole) {
  const std::vector<std::string> properties = properties_of(certificate({verified()}));
  EXPECT_THAT(properties, Contains("BI_CONFORM_LEVEL_2_ATTENTION_BF16"));
  EXPECT_THAT(properties, Not(Contains("BI_CONFORM_LEVEL_3_ATTENTION_BF16")));
  EXPECT_THAT(properties, Contains("BI_CONFORM_LEVEL_1_SOFTMAX_BF16"));
  EXPECT_THAT(properties, Not(Contains("BI_CONFORM_LEVEL_2_SOFTMAX_BF16")));
  EXPECT_THAT(properties, Not(Contains(HasSubstr("NORM_BF16")))) << "one is not claimed";
  EXPECT_THAT(properties, Not(Contains(HasSubstr("LINEAR_BF16")))) << "only mm is there";
  EXPECT_THAT(properties, Not(Contains(HasSubstr("FP32"))));
  EXPECT_THAT(properties, Contains("BI_CONFORM_SUITE_0_1_0"));
  EXPECT_THAT(properties, Contains("BI_CONFORM_VALID_90_DAYS"));
}

TEST_F(Certify, TakesTheLeastOfSeveralReports) {
  report::Report worse = broad_report();
  worse.ops[1].level = Level::kRepeatable;
  const auto properties = properties_of(certificate({verified(), verified(worse)}));
  EXPECT_THAT(properties, Contains("BI_CONFORM_LEVEL_0_ATTENTION_BF16"));
  EXPECT_THAT(properties, Not(Contains("BI_CONFORM_LEVEL_1_ATTENTION_BF16")));
}

TEST_F(Certify, IsAcceptedUnderItsPolicyUntilItExpires) {
  const Submission s = issued(certificate({verified()}), parties_.certifier);
  const Answer answer = accept(s, policy(), kIssued + 90 * kDay - 1);
  EXPECT_EQ(answer.certificate->level, Level::kBatch);
  EXPECT_EQ(answer.keyid, parties_.certifier.public_key().keyid());
  EXPECT_EQ(refusal_of(s, policy(), kIssued + 90 * kDay),
            "expiry: it expired at 2026-04-03T03:04:05Z");
  EXPECT_THAT(refusal_of(s, policy(), kIssued - kDay), StartsWith("expiry: it was made at "));
}

TEST_F(Certify, RefusesAnOldCertificateUnderANewPolicy) {
  const Submission s = issued(certificate({verified()}), parties_.certifier);
  const std::string old_policy = policy().sha256;
  parties_.policy["report_days"] = 31;
  EXPECT_THAT(refusal_of(s, policy()), StartsWith("policy: "));
  parties_.policy["policies"] = {old_policy};
  EXPECT_EQ(refusal_of(s, policy()), "");
  parties_.policy["suites"] = {"0.2.0"};
  EXPECT_THAT(refusal_of(s, policy()), StartsWith("suite: "));
  parties_.policy["suites"] = {"0.1.0"};
  parties_.policy["revoked"] = {std::string(64, '5')};
  EXPECT_THAT(refusal_of(s, policy()), StartsWith("revoked: "));
}

TEST_F(Certify, RefusesACertificateOfOnesOwn) {
  const Submission s = issued(certificate({verified()}), parties_.reporter);
  EXPECT_EQ(refusal_of(s, policy()), "role: a certificate is signed by a reporter's key");
  VerifiedReport own = verified();
  own.keyid = parties_.certifier.public_key().keyid();
  EXPECT_THAT(refusal({own}), HasSubstr("signed the report itself"));
  EXPECT_THROW(certify({verified()}, policy(), "p", parties_.reporter.public_key(), kIssued),
               Refusal);
}

TEST_F(Certify, NeverCertifiesWhatIsNotCertifiable) {
  parties_.policy["strength"] = "quick";
  report::Report quick = broad_report();
  quick.run.strength = "quick";
  EXPECT_THAT(refusal({verified(quick)}), HasSubstr("not certifiable: quick"));
  report::Report filtered = broad_report();
  filtered.verdict.certifiable = false;
  filtered.verdict.why_not_certifiable = {"filtered"};
  EXPECT_THAT(refusal({verified(filtered)}), HasSubstr("not certifiable: filtered"));
  Certificate forged = certificate({verified()});
  forged.strength = "quick";
  EXPECT_THAT(refusal_of(issued(forged, parties_.certifier), policy()),
              StartsWith("strength: a certificate of a run of strength \"quick\""));
}

TEST_F(Certify, RefusesReportsOfDifferentThings) {
  VerifiedReport other = verified();
  other.subjects[0].sha256[0] = 'b';
  EXPECT_THAT(refusal({verified(), other}), HasSubstr("differ in subject"));
  other = verified();
  other.summary.subject.device = "cuda:0 NVIDIA H200";
  EXPECT_THAT(refusal({verified(), other}), HasSubstr("differ in subject"));
  EXPECT_EQ(device_class(other.summary.subject), "cuda NVIDIA H200");
}

TEST_F(Certify, RefusesPropertiesThatSayMoreThanTheRest) {
  json payload = json::parse(statement_text(statement_of(certificate({verified()}))));
  payload["predicate"]["properties"].push_back("BI_CONFORM_LEVEL_3");
  const Submission s{"", {seal(payload.dump(), parties_.certifier)}};
  EXPECT_THAT(refusal_of(s, policy()), StartsWith("predicate: the certificate's properties"));
}

/// Rows of every op of a profile in the dtype, at a level.
Shown shown_of(const std::string& name, DType dtype) {
  Shown shown;
  const auto profile = std::ranges::find(profiles(), name, [](const Profile& p) { return p.name; });
  for (const std::string_view op : profile->ops) {
    report::OpRow row = good_report().ops[0];
    row.op = std::string(op);
    row.dtype = dtype;
    row.level = Level::kSchedule;
    shown.ops.push_back(row);
  }
  return shown;
}

Level level_of(const std::string& name, DType dtype, const Shown& shown) {
  return level_of(
      *std::ranges::find(profiles(), name, [](const Profile& p) { return p.name; }), dtype, shown);
}

TEST(ModelProfiles, AskForTheWholeModelInTheVeryDtype) {
  Shown shown = shown_of("pi0", DType::kFloat32);
  EXPECT_EQ(level_of("pi0", DType::kFloat32, shown), Level::kNone) << "ops alone";
  report::OpRow model = shown.ops[0];
  model.op = "pi0";
  model.dtype = DType::kBFloat16;
  shown.ops.push_back(model);
  EXPECT_EQ(level_of("pi0", DType::kFloat32, shown), Level::kNone) << "a model in another dtype";
  model.dtype = DType::kFloat32;
  model.level = Level::kBatch;
  shown.ops.push_back(model);
  EXPECT_EQ(level_of("pi0", DType::kFloat32, shown), Level::kBatch) << "the model's own level";
}

TEST(ModelProfiles, AskForEachDecoderOfTheDtype) {
  Shown shown = shown_of("decoder", DType::kBFloat16);
  EXPECT_EQ(level_of("decoder", DType::kBFloat16, shown), Level::kNone);
  report::DecoderRow row;
  row.question.dtype = DType::kFloat32;
  row.status = Status::kFail;
  shown.decoder.push_back(row);
  row.question.dtype = DType::kBFloat16;
  row.status = Status::kPass;
  shown.decoder.push_back(row);
  EXPECT_EQ(level_of("decoder", DType::kBFloat16, shown), Level::kSchedule);
  row.status = Status::kUnsupported;
  shown.decoder.push_back(row);
  EXPECT_EQ(level_of("decoder", DType::kBFloat16, shown), Level::kNone);
}

}  // namespace
}  // namespace bic::signing
