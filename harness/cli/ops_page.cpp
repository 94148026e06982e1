#include "harness/cli/ops_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "suites/relations/relation.h"

namespace bic {
namespace {

using protocol::ManifestEntry;

constexpr auto kHead =
    "# Ops\n\n"
    "Made by `bi-conform list ops-page`; a test compares it with the registry. What each op "
    "claims,\n"
    "what proves it (its control), the bound that its results must hold and where that comes "
    "from,\n"
    "why the inputs can break it, and how stock PyTorch and the bundled kernels compute it.\n"
    "`bi-conform explain WORD` knows the relations and laws named here.\n";

std::string names_of(const std::vector<DType>& dtypes) {
  std::vector<std::string_view> names;
  for (DType t : dtypes) names.push_back(name(t));
  return fmt::to_string(fmt::join(names, ", "));
}

std::string control_of(const OpSpec& op) {
  switch (op.control) {
    case ControlKind::kOrder:
      return "order: honest sums in three other orders must give other bits on the same inputs";
    case ControlKind::kTail:
      return "tail: every 16-bit input in a vector body and in a tail; in fp32 and fp64 two honest "
             "evaluations must differ";
    case ControlKind::kValue:
      return "value: judged against the oracle only";
    case ControlKind::kNone:
      return "none: its results are exact, so that no honest implementation has other bits";
  }
  return "";
}

std::string relations_of(const OpSpec& op) {
  std::vector<std::string_view> required;
  for (const Relation& r : relations()) {
    const auto needs = [&](const Variant& v) { return r.required(op, v); };
    if (std::ranges::any_of(op.variants, needs)) required.push_back(r.name);
  }
  return fmt::to_string(fmt::join(required, ", "));
}

std::string laws_of(const OpSpec& op) {
  std::vector<std::string_view> laws;
  for (Law law : op.laws) laws.push_back(name(law));
  return fmt::to_string(fmt::join(laws, ", "));
}

/// Subnormals are left out: whether they are flushed depends on the machine.
std::string text_of(const Arithmetic& a) {
  return fmt::format("sums in {}{}, elementary functions within {} ulp ({})",
                     name(a.accumulator),
                     a.form.empty() ? "" : ", form " + a.form,
                     a.elementary_ulps,
                     a.source);
}

/// Dtypes of one arithmetic share a line.
std::string arithmetic_of(const ManifestEntry& e) {
  std::vector<std::pair<std::string, std::vector<DType>>> lines;
  for (DType t : e.dtypes) {
    const auto at = e.arithmetic.find(t);
    const std::string text = text_of(at == e.arithmetic.end() ? Arithmetic{} : at->second);
    auto same = std::ranges::find(lines, text, &decltype(lines)::value_type::first);
    if (same == lines.end()) same = lines.insert(lines.end(), {text, {}});
    same->second.push_back(t);
  }
  std::string all;
  for (const auto& [text, dtypes] : lines) {
    all += fmt::format("  - {}: {}\n", names_of(dtypes), text);
  }
  return all;
}

const ManifestEntry& entry_of(const std::vector<ManifestEntry>& manifest, const std::string& op) {
  static const ManifestEntry kNone{};
  const auto at = std::ranges::find(manifest, op, &ManifestEntry::op);
  return at == manifest.end() ? kNone : *at;
}

std::string variants_of(const OpSpec& op) {
  std::string all;
  for (const Variant& v : op.variants) {
    all += fmt::format("  - {}`{}`\n", v.name.empty() ? "" : v.name + ": ", v.call);
  }
  return all;
}

std::string section(const OpSpec& op, const ManifestEntry& stock, const ManifestEntry& bundled) {
  std::string text = fmt::format("\n## {}\n{}\n\n", op.name, op.formula);
  text += fmt::format("- Claimed in {}: {}\n", names_of(op.dtypes), relations_of(op));
  text += fmt::format("- Control: {}\n", control_of(op));
  text += fmt::format("- Why the inputs can break it: {} (laws: {})\n", op.why, laws_of(op));
  text += fmt::format("- Bound: {}\n", op.bound);
  text += "- Stock PyTorch:\n" + arithmetic_of(stock);
  text += fmt::format("- libtorch-invariant, {}:\n",
                      bundled.own.empty() ? "stock (" + bundled.stock_reason + ")"
                                          : "own " + fmt::to_string(fmt::join(bundled.own, ", ")));
  return text + arithmetic_of(bundled) + "- Variants:\n" + variants_of(op);
}

}  // namespace

std::string ops_page(const std::vector<ManifestEntry>& stock,
                     const std::vector<ManifestEntry>& bundled) {
  std::string page = kHead;
  for (const OpSpec& op : registry()) {
    if (!op.suite.empty()) continue;  // docs/pi0.md
    page += section(op, entry_of(stock, op.name), entry_of(bundled, op.name));
  }
  return page;
}

}  // namespace bic
