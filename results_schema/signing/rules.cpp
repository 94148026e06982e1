#include "results_schema/signing/rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "results_schema/case_name.h"
#include "results_schema/count_red.h"
#include "results_schema/signing/merkle.h"
#include "results_schema/signing/profiles.h"

namespace bic::signing {
namespace {

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

bool has(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

std::string subject(const Facts& f) {
  return f.statement.subjects == subjects_of(*f.summary)
             ? ""
             : "the subjects are not the libraries that the report names";
}

std::string artifact(const Facts& f) {
  const auto& given = f.question.artifact;
  const auto same = [&](const Artifact& a) { return a.sha256 == given->sha256; };
  if (!given || std::ranges::any_of(f.statement.subjects, same)) return "";
  return quoted(given->name) + " (sha256 " + given->sha256 + ") is none of the subjects";
}

std::string twin(const Facts& f) {
  if (!f.twin) return "";
  const ReportFile file{
      text_at(f.statement.predicate, "/report/name"), f.report_sha256, *f.summary};
  return statement_text(*f.twin) == statement_text(test_result_of(file))
             ? ""
             : "the test result beside the evidence says other things";
}

std::string summary(const Facts& f) {
  return !f.report || summary_of(*f.report) == f.statement.predicate.at("summary")
             ? ""
             : "the summary that was signed is not that of the report";
}

std::string merkle(const Facts& f) {
  if (!f.report) return "";
  const auto count = static_cast<std::int64_t>(f.report->cases.size());
  if (number_at(f.statement.predicate, "/cases/count") != count) {
    return "the report has " + std::to_string(count) + " cases, not as many as were signed";
  }
  return merkle_root(case_leaves(*f.report)) ==
                 digest_at(f.statement.predicate, "/cases/merkle_root")
             ? ""
             : "the root of the report's cases is not the one that was signed";
}

std::string proof(const Facts& f) {
  const auto& p = f.question.proof;
  if (!p) return "";
  const bool holds = p->count == number_at(f.statement.predicate, "/cases/count") &&
                     root_from_proof(p->leaf, p->index, p->count, p->path) ==
                         digest_at(f.statement.predicate, "/cases/merkle_root");
  return holds ? "" : "case " + quoted(p->record.case_name) + " is not among those signed as it is";
}

/// Cases by op, dtype, relation and status; those that a report may leave out are not counted.
using Counts = std::map<std::tuple<std::string, DType, std::string>, std::array<std::int64_t, 3>>;

Counts counted_cases(const report::Report& report) {
  Counts counts;
  for (const report::CaseResult& result : report.cases) {
    const CaseName name = parse_case_name(result.case_name);
    auto& [passed, failed, vacuous] = counts[{name.op, name.dtype, name.relation}];
    passed += result.status == Status::kPass;
    failed += is_red(result.status) || result.status == Status::kError;
    vacuous += result.status == Status::kVacuous;
  }
  return counts;
}

std::string rows(const Facts& f) {
  if (!f.report) return "";
  Counts counts = counted_cases(*f.report);
  for (const report::OpRow& row : f.report->ops) {
    for (const report::RelationRow& r : row.relations) {
      const auto& counted = counts[{row.op, row.dtype, r.relation}];
      if (counted == std::array{r.passed, r.failed, r.vacuous}) continue;
      return row.op + " " + std::string(name(row.dtype)) + ": the row of " + quoted(r.relation) +
             " is not what its cases come to";
    }
  }
  return "";
}

std::string verdict(const Facts& f) {
  if (!f.question.verdict_of) return "";
  const report::Verdict given = f.summary->verdict;
  const report::Verdict right = f.question.verdict_of(*f.summary);
  const auto facts = [](const report::Verdict& v) {
    return std::tuple(v.conforms,
                      v.level,
                      v.strength,
                      v.certifiable,
                      v.why_not_certifiable,
                      v.ops_covered,
                      v.ops_total,
                      v.exit_code);
  };
  if (facts(given) == facts(right)) return "";
  return "the report says " + quoted(given.text) + ", but its rows come to " + quoted(right.text);
}

std::string complete(const Facts& f) {
  const report::Run& run = f.summary->run;
  if (!run.complete) return "the run is incomplete: " + quoted(run.incomplete_reason);
  return run.shard ? "it is the report of one shard; merge them all" : "";
}

std::string conforms(const Facts& f) {
  if (!f.summary->verdict.conforms) return quoted(f.summary->verdict.text);
  const std::int64_t waived = count_waived(*f.summary);
  return waived == 0 ? "" : std::to_string(waived) + " cases were waived by who ran it";
}

std::string suite(const Facts& f) {
  return has(f.question.policy.suites, f.suite)
             ? ""
             : "version " + quoted(f.suite) + " is none that the policy takes";
}

std::string revoked(const Facts& f) {
  const auto& revoked = f.question.policy.revoked;
  if (has(revoked, f.suite)) return "suite version " + quoted(f.suite) + " counts no more";
  for (const std::string& program : f.programs) {
    if (has(revoked, program)) return "program " + quoted(program) + " counts no more";
  }
  return "";
}

std::string strength(const Facts& f) {
  if (f.certificate && rank_of(f.strength) < rank_of("standard")) {
    return "a certificate of a run of strength " + quoted(f.strength);
  }
  return rank_of(f.strength) >= rank_of(f.question.policy.strength)
             ? ""
             : quoted(f.strength) + "; the policy asks for " + f.question.policy.strength;
}

std::string level(const Facts& f) {
  return f.level >= f.question.policy.level
             ? ""
             : std::string(name(f.level)) + "; the policy asks for " +
                   std::string(name(f.question.policy.level));
}

/// Whether the op holds the policy's level in the dtype.
bool holds(const Facts& f, const std::string& op, DType dtype) {
  return std::ranges::any_of(f.summary->ops, [&](const report::OpRow& row) {
    return row.op == op && row.dtype == dtype && is_claimed(row) &&
           row.level >= f.question.policy.level;
  });
}

std::string required(const Facts& f) {
  for (const Requirement& r : f.question.policy.required) {
    for (const std::string& op : r.ops) {
      for (const DType dtype : r.dtypes) {
        if (holds(f, op, dtype)) continue;
        return op + " " + std::string(name(dtype)) + " does not hold " +
               std::string(name(f.question.policy.level));
      }
    }
  }
  return "";
}

std::string coverage(const Facts& f) {
  const report::Verdict& v = f.summary->verdict;
  const std::int64_t floor = f.question.policy.coverage_ppm;
  constexpr std::int64_t kMostOps = 1'000'000;  // the products below stay within 64 bits
  if (v.ops_total > kMostOps || v.ops_covered > v.ops_total) return "those are no numbers of ops";
  if (v.ops_covered * 1'000'000 >= floor * v.ops_total) return "";
  return std::to_string(v.ops_covered) + " of " + std::to_string(v.ops_total) +
         " ops are fewer than " + std::to_string(floor) + " ppm";
}

std::string manifest(const Facts& f) {
  const std::string digest = manifest_sha256(f.summary->subject);
  if (digest != digest_at(f.statement.predicate, "/manifest/digest/sha256")) {
    return "the digest that was signed is not that of the report's manifest";
  }
  const std::string& wanted = f.question.policy.manifest_sha256;
  return wanted.empty() || digest == wanted
             ? ""
             : "the backend's manifest (sha256 " + digest + ") is not the policy's";
}

std::string seed(const Facts& f) {
  const std::string& nonce = f.question.policy.nonce;
  if (nonce.empty()) return "";
  const Seed wanted = seed_for(manifest_sha256(f.summary->subject), nonce);
  const Seed taken = f.summary->run.seed;
  return taken == wanted
             ? ""
             : to_string(taken) + " is not the one that follows from the policy's nonce, " +
                   to_string(wanted);
}

std::string device(const Facts& f) {
  const auto& devices = f.question.policy.devices;
  return devices.empty() || has(devices, f.device)
             ? ""
             : quoted(f.device) + " is none of the policy's devices";
}

/// Clocks of two machines may differ by so much.
constexpr Seconds kClockSkew = 600;

std::string freshness(const Facts& f) {
  const auto started = parse_time(f.summary->run.started);
  if (!started || *started > f.question.now + kClockSkew) {
    return "the run began at " + f.summary->run.started + ", which is not in the past";
  }
  const std::int64_t days = f.question.policy.report_days;
  return f.question.now - *started <= days * kDay
             ? ""
             : "the run began at " + f.summary->run.started + ", more than " +
                   std::to_string(days) + " days ago";
}

std::string policy(const Facts& f) {
  const Policy& own = f.question.policy;
  for (const Artifact& p : f.certificate->policies) {
    if (p.sha256 == own.sha256 || has(own.policies, p.sha256)) return "";
  }
  return "the certificate was not made under this policy, nor under one that it names";
}

std::string expiry(const Facts& f) {
  const Certificate& c = *f.certificate;
  if (c.created > f.question.now + kClockSkew) {
    return "it was made at " + time_text(c.created) + ", which is not in the past";
  }
  if (c.expires <= f.question.now && !f.question.even_expired)
    return "it expired at " + time_text(c.expires);
  return c.expires - c.created <= f.question.policy.certificate_days * kDay
             ? ""
             : "it was made out for longer than the policy's days";
}

constexpr auto kReport = Concerns::kReport, kCertificate = Concerns::kCertificate,
               kBoth = Concerns::kBoth;

constexpr std::array kRules{
    Rule{"subject", kReport, subject},    Rule{"artifact", kBoth, artifact},
    Rule{"twin", kReport, twin},          Rule{"summary", kReport, summary},
    Rule{"merkle", kReport, merkle},      Rule{"proof", kReport, proof},
    Rule{"rows", kReport, rows},          Rule{"verdict", kReport, verdict},
    Rule{"suite", kBoth, suite},          Rule{"revoked", kBoth, revoked},
    Rule{"complete", kReport, complete},  Rule{"conforms", kReport, conforms},
    Rule{"strength", kBoth, strength},    Rule{"level", kBoth, level},
    Rule{"required", kReport, required},  Rule{"coverage", kReport, coverage},
    Rule{"manifest", kReport, manifest},  Rule{"seed", kReport, seed},
    Rule{"device", kBoth, device},        Rule{"freshness", kReport, freshness},
    Rule{"policy", kCertificate, policy}, Rule{"expiry", kCertificate, expiry},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace bic::signing
