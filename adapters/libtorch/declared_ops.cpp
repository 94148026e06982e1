#include "adapters/libtorch/declared_ops.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <optional>

#include "adapters/libtorch/call_text.h"

namespace bic::libtorch {
namespace {

/// The overloads that the texts call; nothing where torch lacks one.
std::optional<std::vector<std::string>> overloads_of(const std::vector<std::string>& calls) {
  std::vector<std::string> all;
  for (const std::string& text : calls) {
    for (const CallStep& step : parse_call(text)) {
      if (!c10::Dispatcher::singleton().findSchema({step.op, step.overload})) return {};
      all.push_back(step.op + (step.overload.empty() ? "" : "." + step.overload));
    }
  }
  return all;
}

/// The operators of whole models, which only call aten's.
bool is_model(const std::string& overload) { return overload.starts_with("bic::pi0"); }

protocol::ManifestEntry entry_of(const protocol::DeclaredOp& op,
                                 const std::vector<std::string>& overloads) {
  protocol::ManifestEntry e{.op = op.op, .dtypes = op.dtypes};
  const bool model = std::ranges::all_of(overloads, is_model);
  for (const DType dtype : op.dtypes) {
    e.arithmetic[dtype] = {
        .accumulator = dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32,
        .elementary_ulps = 4,
        .source = model
                      ? "a whole model: its error is held against stock's"
                      : "declared by a user: sums in fp32 (fp64 for fp64), functions within 4 ulp"};
  }
  if (model) {
    e.stock_reason = "a whole model of aten's operators, whose kernels they reach";
    return e;
  }
  for (const std::string& overload : overloads) {
    const bool known = std::ranges::find(e.own, overload) != e.own.end();
    if (!overload.starts_with("aten::") && !known) e.own.push_back(overload);
  }
  if (e.own.empty()) e.stock_reason = "declared by a user as a call of aten's own operators";
  return e;
}

}  // namespace

std::vector<protocol::ManifestEntry> declared_entries(
    const std::vector<protocol::DeclaredOp>& declared) {
  std::vector<protocol::ManifestEntry> entries;
  for (const protocol::DeclaredOp& op : declared) {
    if (const auto overloads = overloads_of(op.calls)) entries.push_back(entry_of(op, *overloads));
  }
  return entries;
}

}  // namespace bic::libtorch
