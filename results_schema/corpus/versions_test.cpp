#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "results_schema/corpus/corpus.h"
#include "results_schema/error.h"
#include "results_schema/journal.h"
#include "results_schema/journal_line.h"
#include "results_schema/json.h"
#include "results_schema/report.h"
#include "results_schema/signing/bundle.h"
#include "results_schema/signing/statement.h"
#include "results_schema/signing/verify.h"
#include "results_schema/trace_schema.h"

// What docs/versions.md promises of files that another version wrote.

namespace bic {
namespace {

using corpus::file;
using corpus::files_of;
using corpus::read;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// What is said when the work is refused; empty when it is not.
template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string refusal_of_report(const json& changed) {
  return refusal([&] { report::read_report(changed.dump(), "report.json"); });
}

TEST(Versions, AReportOfAnotherMajorIsRefusedInOneLine) {
  for (const auto& path : files_of("reports")) {
    json report = json::parse(read(path));
    EXPECT_EQ(refusal_of_report(report), "") << path;
    for (const int version : {0, 2}) {
      report["schema_version"] = version;
      report["of_that_version"] = "only";  // said of the version, not of what comes with it
      EXPECT_EQ(refusal_of_report(report),
                "report.json: [schema_version]: " + std::to_string(version) +
                    ", and this program reads 1; read it with the bi-conform that wrote it");
    }
  }
}

TEST(Versions, ATraceOfAnotherMajorIsRefusedInOneLine) {
  for (const auto& path : files_of("traces")) {
    json trace = json::parse(read(path));
    trace["trace"] = 2;
    trace["of_that_version"] = "only";
    EXPECT_EQ(report::trace_schema_error(trace),
              "[trace]: 2, and this program reads 1; read it with the bi-conform that wrote it");
  }
}

TEST(Versions, AMemberOfANewerMinorIsRefusedByItsName) {
  for (const auto& path : files_of("reports")) {
    json report = json::parse(read(path));
    report["run"]["of_a_later_minor"] = 1;
    EXPECT_THAT(refusal_of_report(report),
                AllOf(StartsWith("report.json: [run]"),
                      HasSubstr("'of_a_later_minor'"),
                      Not(HasSubstr("\n"))))
        << path;
  }
}

// The reason for which old reports stay readable: what came later may be absent.
TEST(Versions, AReportWithoutWhatCameLaterIsRead) {
  json report = json::parse(read(file("signed/report.json")));
  for (const char* later : {"failures", "decoder", "waivers", "peer", "shards"}) {
    report.erase(later);
  }
  for (const char* later : {"filters", "killed_workers", "repro_flags", "shard", "suite"}) {
    report["run"].erase(later);
  }
  for (const char* later : {"kill_matrix_sha256", "program_sha256", "detection", "declared"}) {
    report["suite"].erase(later);
  }
  for (json& row : report["ops"]) {
    for (json& relation : row["relations"]) relation.erase("excused");
  }
  for (json& one : report["cases"]) one.erase("inputs");
  EXPECT_EQ(refusal_of_report(report), "");
}

TEST(Versions, AJournalOfAnotherMajorIsRefusedInOneLine) {
  for (const auto& path : files_of("journals")) {
    const std::string text = read(path);
    const std::size_t end = text.find('\n');
    json header = json::parse(text.substr(0, end));
    header.erase("check");
    header["schema_version"] = 2;
    const std::string other = report::with_check(canonical_json(header)) + text.substr(end);
    EXPECT_THAT(refusal([&] { report::parse_journal(other, "journal.jsonl"); }),
                AllOf(StartsWith("journal: 'journal.jsonl' line 1: schema version 2, this program "
                                 "reads 1"),
                      Not(HasSubstr("\n"))));
  }
}

/// What is said of the signed report when its statement is changed and signed again.
std::string refusal_of_evidence(const std::function<void(json&)>& change) {
  using namespace signing;
  const auto key = PrivateKey::from_pem(read(file("signed/TEST_KEY_reporter.pem")), "key");
  auto envelopes = read_bundle(read(file("signed/report.sigstore.json")), "report");
  json statement = json::parse(envelopes.front().payload);
  change(statement);
  const Policy policy = read_policy(read(file("signed/policy.json")), "policy.json");
  const std::string report = read(file("signed/report.json"));
  const auto started = *parse_time(report::read_report(report).run.started);
  return refusal([&] {
    verify({.envelopes = {seal(canonical_json(statement), key)},
            .policy = policy,
            .now = started + kDay,
            .report = report});
  });
}

TEST(Versions, EvidenceOfAnotherMajorIsRefusedInOneLine) {
  EXPECT_EQ(refusal_of_evidence([](json&) {}), "");
  EXPECT_EQ(refusal_of_evidence([](json& s) { s["predicateType"] = "urn:bi-conform:report:v2"; }),
            "predicate: type \"urn:bi-conform:report:v2\" is not known here");
  EXPECT_THAT(refusal_of_evidence([](json& s) { s["predicate"]["summary"]["schema_version"] = 2; }),
              StartsWith("schema: summary: [schema_version]: 2, and this program reads 1"));
}

TEST(Versions, UnknownMembersOfAStatementAreIgnored) {
  EXPECT_EQ(refusal_of_evidence([](json& s) {
              s["of_a_later_minor"] = 1;
              s["predicate"]["of_a_later_minor"] = 1;
            }),
            "")
      << "as in-toto asks";
  EXPECT_THAT(
      refusal_of_evidence([](json& s) { s["predicate"]["summary"]["of_a_later_minor"] = 1; }),
      AllOf(StartsWith("schema: summary: "), HasSubstr("'of_a_later_minor'")))
      << "but a report's own are not";
}

}  // namespace
}  // namespace bic
