#include <set>

#include "results_schema/report_check.h"

namespace bic::report {
namespace {

/// What the status says that the tensors do not; empty when they agree.
std::string contradiction(const ModelRow& row) {
  if (row.status == Status::kWaived) return "";  // failed or died
  const bool judged = row.status == Status::kPass || row.status == Status::kFail ||
                      row.status == Status::kUnexpectedPass;
  if (row.accuracy.has_value() != judged) return judged ? "without tensors" : "with tensors";
  if (row.status == Status::kFail && row.reasons.empty()) return "without a reason";
  if (!judged) return "";
  const ModelAccuracy& a = *row.accuracy;
  if (a.beyond > a.tensors) return "with more tensors beyond their bounds than there are";
  if ((a.beyond > 0) != (row.status == Status::kFail)) {
    return row.status == Status::kFail ? "with no tensor beyond its bound"
                                       : "with a tensor beyond its bound";
  }
  return (a.worst.share_ppm > 1'000'000) == (a.beyond > 0) ? "" : "with another worst tensor";
}

}  // namespace

std::string name(const ModelRow& row) {
  return row.model + " " + row.preset + " " + std::string(bic::name(row.dtype));
}

std::string check_models(const Report& report) {
  if (report.models.empty()) return "";
  if (report.run.shard && report.run.shard->index != 1) {
    return "models: in shard " + std::to_string(report.run.shard->index) + ", not in the first";
  }
  std::set<std::tuple<std::string, std::string, DType>> seen;
  for (const ModelRow& row : report.models) {
    const std::string who = name(row);
    if (!seen.insert({row.model, row.preset, row.dtype}).second) return who + " is there twice";
    const std::string wrong = contradiction(row);
    if (!wrong.empty()) return who + ": " + std::string(name(row.status)) + " " + wrong;
    if (report.verdict.conforms && (is_red(row.status) || row.status == Status::kError)) {
      return "verdict: conforms with " + who + " of status " + std::string(name(row.status));
    }
  }
  return "";
}

}  // namespace bic::report
