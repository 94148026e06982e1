#include "results_schema/signing/verify.h"

#include <algorithm>

#include "results_schema/json.h"
#include "results_schema/report_check.h"
#include "results_schema/report_json.h"
#include "results_schema/report_schema.h"
#include "results_schema/sha256.h"
#include "results_schema/signing/profiles.h"
#include "results_schema/signing/refusal.h"
#include "results_schema/signing/rules.h"

namespace bic::signing {
namespace {

using nlohmann::json;

/// The statement of an envelope that one of the keys signed, and that key's id.
struct Signed {
  Statement statement;
  std::string keyid;
};

Signed open(const Envelope& envelope, const Policy& policy) {
  if (envelope.payload_type != kPayloadType) {
    throw Refusal("type",
                  "payload type " + json(envelope.payload_type).dump() + " is not " +
                      std::string(kPayloadType));
  }
  const PublicKey* const reporter = signer_of(envelope, policy.reporters);
  const PublicKey* const certifier =
      reporter == nullptr ? signer_of(envelope, policy.certifiers) : nullptr;
  if (reporter == nullptr && certifier == nullptr) {
    throw Refusal("signature", "no key of the policy made it");
  }
  Statement statement = read_statement(envelope.payload);
  const std::string& type = statement.predicate_type;
  const bool certificate = type == kCertificateType;
  if (!certificate && type != kEvidenceType && type != kTestResultType) {
    throw Refusal("predicate", "type " + json(type).dump() + " is not known here");
  }
  if (certificate != (certifier != nullptr)) {
    throw Refusal("role",
                  certificate ? "a certificate is signed by a reporter's key"
                              : "a report is signed by a certifier's key");
  }
  return {std::move(statement), (reporter != nullptr ? reporter : certifier)->keyid()};
}

json parsed(std::string_view text, const std::string& name) {
  try {
    return read_json(text, name);
  } catch (const UsageError& error) {
    throw Refusal("schema", error.what());
  }
}

report::Report checked_report(const json& object, const std::string& name) {
  const std::string misfit = report::schema_error(object);
  if (!misfit.empty()) throw Refusal("schema", name + ": " + misfit);
  try {
    return report::report_from_json(object);
  } catch (const UsageError& error) {
    throw Refusal("schema", name + ": " + error.what());
  }
}

void read_summary(Facts& f) {
  const json& predicate = f.statement.predicate;
  if (!predicate.contains("summary") || !predicate["summary"].is_object()) {
    throw Refusal("predicate", "/summary is not there or not of its type");
  }
  json object = predicate["summary"];
  object["cases"] = json::array();
  f.summary = checked_report(object, "summary");
  f.report_sha256 = digest_at(predicate, "/report/digest/sha256");
  f.suite = f.summary->suite.version;
  f.strength = f.summary->run.strength;
  f.device = device_class(f.summary->subject);
  f.level = f.summary->verdict.level;
  f.programs = {f.summary->suite.program_sha256};
}

void read_report(Facts& f) {
  const auto& text = f.question.report;
  const std::string name = text_at(f.statement.predicate, "/report/name");
  if (!text) {
    if (f.question.proof) return;
    throw Refusal("report",
                  json(name).dump() + " (sha256 " + f.report_sha256 +
                      ") is not there; name it with --report");
  }
  const std::string digest = sha256_hex(*text);
  if (digest != f.report_sha256) {
    throw Refusal("report",
                  "its file has sha256 " + digest + ", but " + f.report_sha256 + " was signed");
  }
  f.report = checked_report(parsed(*text, "report"), "report");
  const std::string problem = report::check_report(*f.report);
  if (!problem.empty()) throw Refusal("counters", problem);
}

void read_claims(Facts& f) {
  f.certificate = read_certificate(f.statement);
  f.suite = f.certificate->suite;
  f.strength = f.certificate->strength;
  f.device = f.certificate->device;
  f.level = f.certificate->level;
  f.programs = f.certificate->programs;
}

/// What is signed twice over is refused: which of two reports would be meant?
Facts facts_of(const Question& question, std::vector<Signed>& all) {
  Facts f{.question = question, .statement = {}};
  int reports = 0, twins = 0, certificates = 0;
  for (Signed& one : all) {
    if (one.statement.predicate_type == kTestResultType) {
      ++twins;
      f.twin = std::move(one.statement);
    } else {
      ++(one.statement.predicate_type == kEvidenceType ? reports : certificates);
      f.statement = std::move(one.statement);
    }
  }
  const bool report = reports == 1 && twins <= 1 && certificates == 0;
  const bool certificate = certificates == 1 && reports + twins == 0;
  if (!report && !certificate) {
    throw Refusal("contents",
                  "there is not one report, with or without its test result, or one "
                  "certificate");
  }
  return f;
}

}  // namespace

std::string report_name_in(const std::vector<Envelope>& envelopes) {
  for (const Envelope& envelope : envelopes) {
    try {
      const std::string name =
          text_at(read_json(envelope.payload, "payload"), "/predicate/report/name");
      if (name.find('/') == name.npos && name != "." && name != "..") return name;
    } catch (const Error&) {  // said again by the rules, which are checked whatever the name
    }
  }
  return "";
}

Answer verify(const Question& question) {
  std::vector<Signed> all;
  for (const Envelope& envelope : question.envelopes) {
    all.push_back(open(envelope, question.policy));
  }
  const std::string keyid = all.empty() ? "" : all.front().keyid;
  if (std::ranges::any_of(all, [&](const Signed& s) { return s.keyid != keyid; })) {
    throw Refusal("signature", "the envelopes are signed by different keys");
  }
  Facts f = facts_of(question, all);
  const bool certificate = f.statement.predicate_type == kCertificateType;
  if (certificate) {
    read_claims(f);
  } else {
    read_summary(f);
    read_report(f);
  }
  const Concerns other = certificate ? Concerns::kReport : Concerns::kCertificate;
  for (const Rule& rule : rules()) {
    if (rule.concerns == other) continue;
    const std::string problem = rule.problem(f);
    if (!problem.empty()) throw Refusal(rule.name, problem);
  }
  Answer answer{.certificate = std::move(f.certificate), .keyid = keyid};
  if (f.summary) {
    answer.report = {std::move(*f.summary), f.report_sha256, f.statement.subjects, keyid};
    answer.whole = std::move(f.report);
  }
  return answer;
}

}  // namespace bic::signing
