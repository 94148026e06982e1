#include "harness/plan/suite_parts.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace bic {
namespace {

/// Its dims multiplied, by the largest batch: about the terms of its largest product.
double terms(const ShapeRow& row) {
  double all = static_cast<double>(std::ranges::max(row.batches));
  for (const auto& [dim, extent] : row.dims) all *= static_cast<double>(extent);
  return all;
}

}  // namespace

const std::vector<ShapeRow>& pi0_ops() {
  constexpr double kMostTerms = 0x1p24;
  static const std::vector<ShapeRow> kRows = [] {
    std::vector<ShapeRow> rows = pi0_ops_tiny();
    std::ranges::copy_if(pi0_ops_full(), std::back_inserter(rows), [](const ShapeRow& row) {
      return terms(row) <= kMostTerms;
    });
    return rows;
  }();
  return kRows;
}

std::span<const SuitePart> suite_parts() {
  static const std::array kParts{
      SuitePart{"ops", "the ops at drawn sizes", nullptr, true, false},
      SuitePart{"pi0", "a whole vision-language-action policy", nullptr, true, true},
      SuitePart{
          "decoder", "temperature 0 in a server with continuous batching", nullptr, true, false},
      SuitePart{
          "pi0-ops", "the ops at the sizes at which the models call them", pi0_ops, false, false},
      SuitePart{"public", "the ops at sizes of public reports", public_reports, false, false},
      SuitePart{"sanitize",
                "every way through the bundled kernels, for a memory checker",
                sanitize_ops,
                false,
                false}};
  return kParts;
}

const SuitePart* find_suite_part(std::string_view name) {
  const auto parts = suite_parts();
  const auto at = std::ranges::find(parts, name, &SuitePart::name);
  return at == parts.end() ? nullptr : &*at;
}

std::vector<std::string> suite_part_names() {
  std::vector<std::string> names;
  for (const SuitePart& part : suite_parts()) names.emplace_back(part.name);
  return names;
}

}  // namespace bic
