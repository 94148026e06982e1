#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/trace/audit.h"

namespace bic {
namespace {

// A model's row is tried in batches of this many requests.
constexpr std::int64_t kRequests[] = {1, 2, 5};
/// Longest sequence of a sample that is tried whole: rows of one sample do not see each other.
constexpr std::int64_t kMostRows = 64;
/// Most terms of a sample that its suite's batches can hold; a head of a whole vocabulary is cut.
constexpr std::int64_t kMostColumns = 32768;

/// Everything but the batch, so that rows of the same sizes are one.
using Row = std::tuple<std::string, std::string, std::string, std::string, std::string>;

/// Where the sizes come from and how many samples the calls held.
struct Use {
  std::string label;
  std::set<std::int64_t> batches;
  std::set<std::string> notes;
};

std::string pairs(const std::map<std::string, std::string>& all) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : all) texts.push_back(key + "=" + value);
  return fmt::format("{}", fmt::join(texts, " "));
}

/// Of the elements of a sample of a pointwise op whole blocks are left out: what is left fills
/// vectors as the model's do, and the largest batch is not more than all inputs of a 16-bit type.
constexpr std::int64_t kBlock = 8192;

/// A dim that is over `most` is tried at `instead`.
void cut(Dims& dims, const char* dim, std::int64_t most, std::int64_t instead, Use& use) {
  const auto at = dims.find(dim);
  if (at == dims.end() || at->second <= most) return;
  use.notes.insert(fmt::format("{} is {} in the model", dim, at->second));
  at->second = instead;
}

Row row_of(OpCase c, Use& use) {
  if (c.op->contraction && c.variant->name.find('r') == 0)
    cut(c.dims, "t", kMostRows, kMostRows, use);
  cut(c.dims, "n", kMostColumns, kMostColumns, use);
  const auto h = c.dims.find("h");
  const bool pointwise = c.variant->reduced.empty() && h != c.dims.end();
  if (pointwise) cut(c.dims, "h", 2 * kBlock - 1, kBlock + h->second % kBlock, use);
  std::map<std::string, std::string> dims, attributes;
  for (const auto& [dim, n] : c.dims) dims[dim] = std::to_string(n);
  for (const auto& [attribute, value] : c.attributes) {
    if (c.variant->attributes.at(attribute) != value) attributes[attribute] = value;
  }
  return {c.op->name,
          c.variant->name.empty() ? "default" : c.variant->name,
          std::string(name(c.dtype)),
          pairs(dims),
          pairs(attributes)};
}

/// Calls without a case, by reason: overloads and the number of their different shapes. What stock
/// makes inside an op that has a case depends on the CPU, and is left out.
using Reasons = std::map<std::string, std::map<std::string, int>>;

std::string comments(const Reasons& reasons) {
  std::string text = "# Calls of the models that have no row:\n";
  for (const auto& [reason, overloads] : reasons) {
    text += "# " + reason + ":\n";
    for (const auto& [overload, count] : overloads) {
      text += fmt::format("#   {} of {} shapes\n", overload, count);
    }
  }
  return text;
}

}  // namespace

std::string shapes_csv(std::span<const Audit> audits) {
  std::map<Row, Use> rows;
  Reasons reasons;
  for (const Audit& audit : audits) {
    for (const AuditEntry& e : audit.entries) {
      if (const auto* why = std::get_if<std::string>(&e.op_case)) {
        if (!why->starts_with("inside ")) ++reasons[*why][e.op.call.overload];
        continue;
      }
      const OpCase& c = std::get<OpCase>(e.op_case);
      Use use{fmt::format("{} {}", audit.choice.model, audit.choice.preset), {}, {}};
      const Row row = row_of(c, use);
      Use& all = rows.try_emplace(row, use).first->second;
      for (const std::int64_t n : kRequests) all.batches.insert(n * c.batch / audit.batch);
    }
  }
  std::string text = "label,op,variant,dtype,dims,batch,attributes,note\n";
  for (const auto& [row, use] : rows) {
    const auto& [op, variant, dtype, dims, attributes] = row;
    text += fmt::format("{},{},{},{},{},{},{},{}\n",
                        use.label,
                        op,
                        variant,
                        dtype,
                        dims,
                        fmt::join(use.batches, " "),
                        attributes,
                        fmt::join(use.notes, "; "));
  }
  return comments(reasons) + text;
}

}  // namespace bic
