#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "suites/ops/op_spec.h"

namespace bic {

/// Sizes that an op is to be tried with.
struct ShapeRow {
  std::string label;  ///< for people: "Gemma 2B down"
  const OpSpec* op = nullptr;
  Dims dims;                          ///< those not named are drawn
  std::vector<std::int64_t> batches;  ///< empty: the suite's list
};

/// The variants of the row's op that have all of its dims.
std::vector<const Variant*> variants_of(const ShapeRow& row);

/// Reads rows from CSV (columns label, op, dims, batch; dims as "k=2048 n=256") or, when the first
/// character is '{', from JSON lines ({"label": "q", "op": "mm", "dims": {"k": 2048}, "batch": [1,
/// 8]}). Empty lines and those that begin with '#' are skipped. Throws UsageError that names
/// `origin`, the line, and the value.
std::vector<ShapeRow> parse_shapes(std::string_view text, const std::string& origin);

/// The same of a file.
std::vector<ShapeRow> read_shapes(const std::filesystem::path& file);

/// suites/shapes/models.csv, which is compiled in.
const std::vector<ShapeRow>& model_shapes();

}  // namespace bic
