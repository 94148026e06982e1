#include <set>

#include "results_schema/report_check.h"

namespace bic::report {
namespace {

/// What the status says that the answer does not; empty when they agree.
std::string contradiction(const DecoderRow& row) {
  if (row.status == Status::kWaived) return "";  // failed or died
  const bool judged = row.status == Status::kPass || row.status == Status::kFail ||
                      row.status == Status::kVacuous || row.status == Status::kUnexpectedPass;
  if (row.answer.has_value() != judged) return judged ? "without an answer" : "with an answer";
  if (row.status == Status::kFail && row.reasons.empty()) return "without a reason";
  if (!judged || row.answer->is_invariant() == (row.status != Status::kFail)) return "";
  return row.status == Status::kFail ? "with an answer that does not vary"
                                     : "with an answer that varies";
}

}  // namespace

std::string name(const DecoderQuestion& question) {
  return "decoder." + question.preset + "/" + std::string(bic::name(question.dtype));
}

std::string check_decoder(const Report& report) {
  if (report.decoder.empty()) return "";
  if (report.run.shard && report.run.shard->index != 1) {
    return "decoder: in shard " + std::to_string(report.run.shard->index) + ", not in the first";
  }
  std::set<std::pair<std::string, DType>> seen;
  for (const DecoderRow& row : report.decoder) {
    const DecoderQuestion& q = row.question;
    const std::string who = "decoder " + q.preset + " " + std::string(name(q.dtype));
    if (!seen.insert({q.preset, q.dtype}).second) return who + " is there twice";
    const std::string wrong = contradiction(row);
    if (!wrong.empty()) return who + ": " + std::string(name(row.status)) + " " + wrong;
    if (report.verdict.conforms && is_red(row.status)) {
      return "verdict: conforms with " + who + " of status " + std::string(name(row.status));
    }
  }
  return "";
}

}  // namespace bic::report
