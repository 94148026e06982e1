#include "results_schema/corpus/corpus.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "results_schema/journal.h"
#include "results_schema/json.h"
#include "results_schema/report.h"
#include "results_schema/report_schema.h"
#include "results_schema/signing/bundle.h"
#include "results_schema/signing/certificate.h"
#include "results_schema/signing/evidence.h"
#include "results_schema/signing/verify.h"
#include "results_schema/trace_schema.h"

namespace bic {
namespace {

using corpus::file;
using corpus::files_of;
using corpus::read;

TEST(Corpus, ReportsAreReadBackToTheSameBytes) {
  for (const auto& path : files_of("reports")) {
    SCOPED_TRACE(path);
    const std::string text = read(path);
    EXPECT_EQ(report::schema_error(read_json(text, "report")), "");
    EXPECT_EQ(report::write_report(report::read_report(text)), text);
  }
}

TEST(Corpus, ReportsShowEachKindOfResult) {
  int conforming = 0, failing = 0, waived = 0, decoders = 0, models = 0, timed = 0, unproved = 0;
  for (const auto& path : files_of("reports")) {
    const report::Report r = report::load_report(path);
    conforming += r.verdict.exit_code == 0;
    failing += r.verdict.exit_code == 1 && !r.failures.empty();
    unproved += r.verdict.exit_code == 3;
    waived += !r.waivers.empty() && r.totals.cases[Status::kWaived] > 0;
    decoders += !r.decoder.empty();
    const auto speed = r.ops.empty() ? std::nullopt : r.ops[0].throughput;
    timed += speed && !speed->backend_blocks_ns.empty();
    models += !r.models.empty() && r.models[0].accuracy && !r.models[0].ops.empty();
  }
  EXPECT_GT(conforming, 0);
  EXPECT_GT(failing, 0);
  EXPECT_GT(unproved, 0);
  EXPECT_GT(waived, 0);
  EXPECT_GT(decoders, 0);
  EXPECT_GT(models, 0);
  EXPECT_GT(timed, 0);
}

TEST(Corpus, TracesFitTheirSchemaAndHoldNoFloat) {
  for (const auto& path : files_of("traces")) {
    SCOPED_TRACE(path);
    const std::string text = read(path);
    const nlohmann::json trace = read_json(text, "trace");  // which refuses floats
    EXPECT_EQ(report::trace_schema_error(trace), "");
    EXPECT_EQ(canonical_json(trace) + "\n", text);
  }
}

TEST(Corpus, JournalsAreReadBackToTheSameBytes) {
  const std::filesystem::path copy = testing::TempDir() + "corpus_journal.jsonl";
  for (const auto& path : files_of("journals")) {
    SCOPED_TRACE(path);
    const report::Journal journal = report::read_journal(path);
    EXPECT_FALSE(journal.problems.empty() && journal.decoder.empty());
    std::filesystem::remove(copy);
    {
      report::JournalWriter writer(copy, journal.header);
      for (const report::ProblemRecord& problem : journal.problems) writer.add(problem);
      for (const report::RowTiming& timing : journal.timings) writer.add(timing);
      for (const report::DecoderRow& row : journal.decoder) writer.add(row);
    }
    EXPECT_EQ(read(copy), read(path));
  }
  std::filesystem::remove(copy);
}

namespace signing {

using namespace bic::signing;

PrivateKey test_key(const std::string& name) {
  return PrivateKey::from_pem(read(file("signed/" + name)), name);
}

// Signatures of Ed25519 are a function of key and bytes: a change of a single byte of what is
// signed shows here.
TEST(Corpus, AReportIsSignedToTheSameBytesAgain) {
  const PrivateKey key = test_key("TEST_KEY_reporter.pem");
  const ReportFile report = read_report_file("report.json", read(file("signed/report.json")));
  const std::vector<Envelope> envelopes{seal(statement_text(evidence_of(report)), key),
                                        seal(statement_text(test_result_of(report)), key)};
  EXPECT_EQ(intoto_bundle(envelopes), read(file("signed/report.intoto.jsonl")));
  EXPECT_EQ(sigstore_bundle(envelopes.front(), key.public_key()),
            read(file("signed/report.sigstore.json")));
}

TEST(Corpus, ACertificateIsSignedToTheSameBytesAgain) {
  const PrivateKey key = test_key("TEST_KEY_certifier.pem");
  const std::string text = read(file("signed/certificate.intoto.jsonl"));
  const std::vector<Envelope> envelopes = read_bundle(text, "certificate");
  ASSERT_EQ(envelopes.size(), 1);
  const Certificate certificate = read_certificate(read_statement(envelopes.front().payload));
  const Envelope again = seal(statement_text(statement_of(certificate)), key);
  EXPECT_EQ(intoto_bundle({again}), text);
  EXPECT_EQ(sigstore_bundle(again, key.public_key()),
            read(file("signed/certificate.sigstore.json")));
}

/// Verifies a file of envelopes at a moment after it was made. The verdict is not asked for: it is
/// that of the suite's version that judged.
Answer accepted(const std::string& name, std::string_view report, Seconds now) {
  const Policy policy = read_policy(read(file("signed/policy.json")), "policy.json");
  return verify({.envelopes = read_bundle(read(file("signed/" + name)), name),
                 .policy = policy,
                 .now = now,
                 .report = report.empty() ? std::optional<std::string_view>() : report});
}

TEST(Corpus, APolicyAcceptsWhatWasSigned) {
  const std::string text = read(file("signed/report.json"));
  const Seconds started = *parse_time(report::read_report(text).run.started);
  for (const char* name : {"report.intoto.jsonl", "report.sigstore.json"}) {
    EXPECT_TRUE(accepted(name, text, started + kDay).report) << name;
  }
  for (const char* name : {"certificate.intoto.jsonl", "certificate.sigstore.json"}) {
    const Answer answer = accepted(name, "", started + kDay);
    ASSERT_TRUE(answer.certificate) << name;
    EXPECT_GT(answer.certificate->level, Level::kNone);
  }
}

}  // namespace signing
}  // namespace
}  // namespace bic
