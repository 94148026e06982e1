#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "suites/ops/op_spec.h"
#include "suites/relations/relation.h"

namespace bic {

/// Sizes that an op is to be tried with.
struct ShapeRow {
  std::string id;     ///< what its cases end in; empty: nothing
  std::string label;  ///< for people: "Gemma 2B down"
  std::string note;   ///< for people: where the sizes are not those of the label
  const OpSpec* op = nullptr;
  const Variant* variant = nullptr;   ///< null: each that has all of the dims, in turn
  std::vector<DType> dtypes;          ///< empty: the op's
  Dims dims;                          ///< those not named are drawn
  std::vector<std::int64_t> batches;  ///< empty: the suite's list
  Attributes attributes;              ///< those not named are the variant's
  bool proves_bits = true;
  std::vector<Law> laws;           ///< of the problems that prove bits; empty: the op's
  std::vector<Law> accuracy_laws;  ///< one accuracy problem each
  /// Of its problems that prove bits; empty: all. With any the row is tried once, whatever a level
  /// needs.
  std::vector<const Relation*> relations;
};

/// The variants that the row asks for.
std::vector<const Variant*> variants_of(const ShapeRow& row);

/// Reads rows: a line that begins with '{' is JSON, the others are CSV; docs/shapes.md has the
/// columns, which are the keys of a line of JSON. Empty lines and those that begin with '#' are
/// skipped. Throws UsageError that names `origin`, the line, and the value.
std::vector<ShapeRow> parse_shapes(std::string_view text, const std::string& origin);

/// The same of a file.
std::vector<ShapeRow> read_shapes(const std::filesystem::path& file);

/// suites/shapes/models.csv, which is compiled in.
const std::vector<ShapeRow>& model_shapes();

/// suites/public/reports.csv, which is too.
const std::vector<ShapeRow>& public_reports();

/// suites/shapes/pi0_ops_tiny.csv: what the tiny models of the suite call.
const std::vector<ShapeRow>& pi0_ops_tiny();

/// suites/shapes/pi0_ops_full.csv: what those of full size call.
const std::vector<ShapeRow>& pi0_ops_full();

/// suites/shapes/sanitize.csv: every way through the bundled kernels, with few trials.
const std::vector<ShapeRow>& sanitize_ops();

}  // namespace bic
