#pragma once

// Internal, for tests: a small report that may be certified, who signs it, and who accepts it.

#include <string>
#include <vector>

#include "results_schema/error.h"
#include "results_schema/report_example.h"
#include "results_schema/report_json.h"
#include "results_schema/signing/bundle.h"
#include "results_schema/signing/verify.h"

namespace bic::signing {

inline constexpr Seconds kStarted = 1'767'323'045;  ///< of the example: 2026-01-02T03:04:05Z

/// A conforming, complete run of strength standard: ten passing cases of `mm` in bf16.
inline report::Report good_report() {
  const report::Report whole = report::example_report();
  report::Report r;
  r.suite = whole.suite;
  r.subject = whole.subject;
  r.environment = whole.environment;
  r.run.plan = whole.run.plan;
  r.run.seed = whole.run.seed;
  r.run.strength = "standard";
  r.run.target = Level::kBatch;
  r.run.started = "2026-01-02T03:04:05Z";
  r.run.complete = true;
  r.ops = whole.ops;
  report::CaseResult one = report::example_pass();
  for (int batch = 2; batch < 12; ++batch) {
    one.case_name = "mm.alone/bf16:k64:B" + std::to_string(batch) +
                    "@1#42~B1#42:fill=cancel:s=0000000000000001";
    r.cases.push_back(one);
  }
  report::OpRow& row = r.ops[0];
  row.cases = {};
  row.cases[Status::kPass] = 10;
  row.level = Level::kBatch;
  row.why.clear();
  row.relations = {{"alone", true, 5, 10, 0, 0, 0}};
  r.totals = {row.cases, 10};
  r.verdict = {true, Level::kBatch, "standard", true, {}, 1, 1, 0, "BI-1 on 1 of 1 ops"};
  return r;
}

/// A stand-in for the suite's own: conforms where nothing is red and the rows hold the target.
inline report::Verdict plain_verdict(const report::Report& r) {
  report::Verdict v = good_report().verdict;
  v.level = r.ops.at(0).level;
  v.strength = r.run.strength;
  v.conforms = r.totals.cases[Status::kFail] == 0 && v.level >= r.run.target;
  if (r.run.strength == "quick") v.why_not_certifiable = {"quick"};
  if (!v.conforms) v.why_not_certifiable.emplace_back("does not conform");
  v.certifiable = v.why_not_certifiable.empty();
  v.exit_code = v.conforms ? 0 : 1;
  if (!v.conforms) v.text = "does not conform";
  return v;
}

/// A submitter, a verifier who certifies, and a policy that knows both.
struct Parties {
  PrivateKey reporter = PrivateKey::generate(KeyType::kP256);
  PrivateKey certifier = PrivateKey::generate(KeyType::kEd25519);
  nlohmann::json policy{{"policy", "urn:example:policy"},
                        {"reporters", {reporter.public_key().pem()}},
                        {"certifiers", {certifier.public_key().pem()}},
                        {"suites", {"0.1.0"}},
                        {"strength", "standard"},
                        {"level", "BI-1"},
                        {"required", {{{"ops", {"mm"}}, {"dtypes", {"bf16"}}}}},
                        {"coverage_ppm", 1'000'000},
                        {"report_days", 30},
                        {"certificate_days", 90}};
};

/// What a submitter hands over.
struct Submission {
  std::string report;  ///< text of the file
  std::vector<Envelope> envelopes;
};

inline Submission submit(const report::Report& report, const PrivateKey& key) {
  std::string text = report::write_report(report);
  const ReportFile file = read_report_file("report.json", text);
  return {std::move(text),
          {seal(statement_text(evidence_of(file)), key),
           seal(statement_text(test_result_of(file)), key)}};
}

/// Verifies on the day after the run.
inline Answer accept(const Submission& s, const Policy& policy, Seconds now = kStarted + kDay) {
  return verify({.envelopes = s.envelopes,
                 .policy = policy,
                 .now = now,
                 .report = s.report,
                 .verdict_of = plain_verdict});
}

/// What is said when it is not accepted; empty when it is.
inline std::string refusal_of(const Submission& s,
                              const Policy& policy,
                              Seconds now = kStarted + kDay) {
  try {
    accept(s, policy, now);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace bic::signing
