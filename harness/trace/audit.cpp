#include "harness/trace/audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "results_schema/error.h"

namespace bic {
namespace {

using nlohmann::json;

/// Ops that add along an axis, by name; those of stock's that only choose who does the work are
/// `kHandOn` too.
constexpr std::string_view kReductions =
    " linear matmul mm bmm addmm baddbmm addmv_ mv dot conv2d convolution _convolution "
    "mkldnn_convolution _slow_conv2d_forward softmax _softmax log_softmax _log_softmax logsumexp "
    "sum mean cumsum prod var std var_mean norm linalg_vector_norm layer_norm native_layer_norm "
    "group_norm native_group_norm batch_norm native_batch_norm rms_norm _fused_rms_norm "
    "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu ";
constexpr std::string_view kHandOn =
    " linear matmul conv2d convolution _convolution softmax log_softmax layer_norm ";

/// In whole numbers every order gives the same sum.
bool of_reals(const OpSight& op) {
  return std::ranges::any_of(op.outputs,
                             [](const TensorSight& t) { return parse_dtype(t.dtype).has_value(); });
}

AuditEntry entry_of(const json& j, const OwnOverloads& own) {
  AuditEntry e;
  j.at("op").get_to(e.op);
  j.at("count").get_to(e.count);
  e.own = is_own(e.op, own);
  e.reduces = name_it(kReductions, e.op.call.overload) && of_reals(e.op);
  e.op_case = op_case(e.op.call);
  const bool lacks = std::holds_alternative<std::string>(e.op_case);
  if (lacks && e.op.caller && std::holds_alternative<OpCase>(op_case(*e.op.caller))) {
    e.op_case = fmt::format("inside {}, which has a case", e.op.caller->overload);
  }
  return e;
}

std::string case_text(const OpCase& c) {
  std::vector<std::string> dims;
  for (const auto& [dim, n] : c.dims) dims.push_back(fmt::format("{}{}", dim, n));
  return fmt::format("{}{}/{}:{} x{}",
                     c.op->name,
                     c.variant->name.empty() ? "" : "-" + c.variant->name,
                     name(c.dtype),
                     fmt::join(dims, ","),
                     c.batch);
}

}  // namespace

std::vector<std::string> Audit::foreign_reductions() const {
  std::vector<std::string> names;
  for (const AuditEntry& e : entries) {
    const std::string& overload = e.op.call.overload;
    if (!e.reduces || e.own || name_it(kHandOn, overload)) continue;
    if (std::ranges::find(names, overload) == names.end()) names.push_back(overload);
  }
  return names;
}

Audit audit(const AskStudy& ask,
            const ModelChoice& choice,
            std::int64_t batch,
            const OwnOverloads& own) {
  const SamplePlan plan{.sample = 0, .batch = batch, .position = 0};
  json request = choice;
  request["requests"] = plan.requests();
  const json answer = ask("audit", request, protocol::SharedMemory::create(1));
  Audit all{choice, batch, {}};
  try {
    for (const json& j : answer.at("audit")) all.entries.push_back(entry_of(j, own));
  } catch (const json::exception& e) {
    throw HarnessError(fmt::format("audit: the worker's answer is malformed: {}", e.what()));
  }
  return all;
}

std::vector<report::ModelOp> summary(const Audit& audit) {
  std::vector<report::ModelOp> ops;
  std::map<std::tuple<std::string, std::vector<std::string>, bool>, std::size_t> place;
  for (const AuditEntry& e : audit.entries) {
    const CallSight& call = e.op.call;
    report::ModelOp op{.overload = call.overload, .own = e.own};
    for (const TensorSight& t : call.inputs) {
      op.inputs.push_back(fmt::format("{}:{}", t.dtype, t.shape.size()));
    }
    op.reduces = e.reduces && (e.own || !name_it(kHandOn, call.overload));
    const auto [at, added] = place.try_emplace({op.overload, op.inputs, op.own}, ops.size());
    if (added) ops.push_back(std::move(op));
    ops[at->second].count += e.count;
  }
  return ops;
}

void add_audit(json& j, const Audit& audit) {
  json entries = json::array();
  for (const AuditEntry& e : audit.entries) {
    json entry{{"op", e.op}, {"count", e.count}, {"own", e.own}, {"reduces", e.reduces}};
    if (const auto* c = std::get_if<OpCase>(&e.op_case)) entry["case"] = case_text(*c);
    if (const auto* why = std::get_if<std::string>(&e.op_case)) entry["no_case"] = *why;
    entries.push_back(std::move(entry));
  }
  j["batch"] = audit.batch;
  j["audit"] = std::move(entries);
}

std::string audit_text(const Audit& audit, const std::string& backend) {
  std::set<std::string> overloads;
  std::int64_t calls = 0;
  std::string lines;
  for (const AuditEntry& e : audit.entries) {
    overloads.insert(e.op.call.overload);
    calls += e.count;
    const auto* c = std::get_if<OpCase>(&e.op_case);
    lines +=
        fmt::format("{:>6} {:<5} {}\n{:14}{}\n",
                    e.count,
                    e.own ? "own" : "stock",
                    to_text(e.op),
                    "",
                    c ? "case " + case_text(*c) : "no case: " + std::get<std::string>(e.op_case));
  }
  const auto foreign = audit.foreign_reductions();
  return fmt::format(
      "{} {} {} on {}, batch {}: {} calls of {} overloads, {} different\n{:>6} {:<5} call\n{}"
      "reductions that are not the backend's: {}\n",
      audit.choice.model,
      audit.choice.preset,
      audit.choice.dtype,
      backend,
      audit.batch,
      calls,
      overloads.size(),
      audit.entries.size(),
      "count",
      "whose",
      lines,
      foreign.empty() ? "none" : fmt::format("{}", fmt::join(foreign, " ")));
}

}  // namespace bic
