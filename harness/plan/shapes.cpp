#include "harness/plan/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/files/typed.h"
#include "harness/plan/case_check.h"
#include "results_schema/case_grammar.h"
#include "results_schema/error.h"
#include "results_schema/json.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

using nlohmann::json;

/// The texts of one row by column.
using Fields = std::map<std::string, std::string>;

const std::vector<std::string> kColumns{"id",
                                        "label",
                                        "op",
                                        "variant",
                                        "dtype",
                                        "dims",
                                        "batch",
                                        "laws",
                                        "relations",
                                        "accuracy",
                                        "attributes",
                                        "note"};

/// Where a line stands, for errors.
struct Place {
  const std::string& file;
  std::size_t line;
};

[[noreturn]] void refuse(const Place& at, const std::string& what) {
  throw UsageError(fmt::format("--shapes: {}:{}: {}", at.file, at.line, what));
}

std::int64_t extent(const Place& at, const std::string& text, std::int64_t most) {
  if (const auto value = whole_number(text, most)) return *value;
  refuse(at, fmt::format("'{}' is not a whole number from 1 to {}", text, most));
}

const OpSpec& op_of(const Place& at, const std::string& name) {
  if (const OpSpec* op = find_op(name)) return *op;
  std::vector<std::string> known;
  for (const OpSpec& op : registry()) known.push_back(op.name);
  refuse(at, fmt::format("unknown op '{}'{}", name, did_you_mean(name, known)));
}

/// Of the name in a table; the op's first variant is "default" there.
const Variant* variant_of(const Place& at, const OpSpec& op, const std::string& name) {
  if (name.empty()) return nullptr;
  std::vector<std::string> known;
  for (const Variant& v : op.variants) {
    known.push_back(v.name.empty() ? "default" : v.name);
    if (known.back() == name) return &v;
  }
  refuse(
      at,
      fmt::format("'{}' has no variant '{}' (known: {})", op.name, name, fmt::join(known, ", ")));
}

/// Words between spaces, each of which `parse` knows.
template <class Parse>
auto words(const Place& at, const char* what, const std::string& text, Parse parse) {
  std::vector<typename decltype(parse(text))::value_type> all;
  for (const std::string& word : split(text, ' ')) {
    const auto value = parse(word);
    if (!value) refuse(at, fmt::format("unknown {} '{}'", what, word));
    all.push_back(*value);
  }
  return all;
}

std::optional<const Relation*> parse_relation(const std::string& name) {
  const auto at = std::ranges::find(relations(), name, &Relation::name);
  return at == relations().end() ? std::nullopt : std::optional(&*at);
}

/// "a=1 b=2".
std::vector<std::pair<std::string, std::string>> pairs(const Place& at,
                                                       const std::string& expected,
                                                       const std::string& text) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& item : split(text, ' ')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) refuse(at, fmt::format("'{}' is not {}", item, expected));
    all.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return all;
}

void check(const Place& at, const ShapeRow& row) {
  if (!row.id.empty() && !grammar::is_id(row.id)) {
    refuse(at, fmt::format("the id '{}' is not of small letters and digits", row.id));
  }
  for (const DType t : row.dtypes) {
    if (std::ranges::find(row.op->dtypes, t) != row.op->dtypes.end()) continue;
    refuse(at, fmt::format("'{}' is not declared in {}", row.op->name, name(t)));
  }
  for (const auto& [dim, n] : row.dims) {
    const auto& dims = row.op->dims;
    if (std::ranges::find(dims, dim, &DimRange::name) != dims.end()) continue;
    std::vector<std::string> known;
    for (const DimRange& d : dims) known.push_back(d.name);
    refuse(at,
           fmt::format(
               "'{}' is no dim of '{}' (known: {})", dim, row.op->name, fmt::join(known, ", ")));
  }
  const auto variants = variants_of(row);
  if (variants.empty()) {
    refuse(at, fmt::format("no variant of '{}' has all of these dims", row.op->name));
  }
  for (const auto& [attribute, value] : row.attributes) {
    // Captured by name: clang before 16 captures no structured binding.
    const auto lacks = [&a = attribute](const Variant* v) { return !v->attributes.contains(a); };
    if (!grammar::is_value(value) || std::ranges::any_of(variants, lacks)) {
      refuse(at, fmt::format("'{}' has no attribute '{}={}'", row.op->name, attribute, value));
    }
  }
}

ShapeRow row_of(const Place& at, Fields fields) {
  ShapeRow row{.id = fields["id"], .label = fields["label"], .note = fields["note"]};
  row.op = &op_of(at, fields["op"]);
  row.variant = variant_of(at, *row.op, fields["variant"]);
  row.dtypes = words(at, "dtype", fields["dtype"], parse_dtype);
  for (const auto& [dim, n] : pairs(at, "DIM=NUMBER", fields["dims"])) {
    row.dims[dim] = extent(at, n, kMostExtent);
  }
  for (const std::string& b : split(fields["batch"], ' ')) {
    row.batches.push_back(extent(at, b, kMostBatch));
  }
  row.proves_bits = fields["laws"] != "none";
  if (row.proves_bits) row.laws = words(at, "law", fields["laws"], parse_law);
  row.accuracy_laws = words(at, "law", fields["accuracy"], parse_law);
  row.relations = words(at, "relation", fields["relations"], parse_relation);
  for (const auto& [attribute, value] : pairs(at, "NAME=VALUE", fields["attributes"])) {
    row.attributes[attribute] = value;
  }
  check(at, row);
  return row;
}

std::vector<std::string> csv_columns(const Place& at, const std::string& line) {
  const auto columns = split(line, ',');
  for (const std::string& column : columns) {
    if (std::ranges::find(kColumns, column) != kColumns.end()) continue;
    refuse(at,
           fmt::format("the header has no column '{}'{} (known: {})",
                       column,
                       did_you_mean(column, kColumns),
                       fmt::join(kColumns, ", ")));
  }
  for (const char* needed : {"op", "dims"}) {
    if (std::ranges::find(columns, needed) != columns.end()) continue;
    refuse(at, fmt::format("'{}' is no header: it lacks the column {}", line, needed));
  }
  return columns;
}

Fields csv_fields(const Place& at,
                  const std::vector<std::string>& columns,
                  const std::string& line) {
  const auto cells = split(line, ',');
  if (cells.size() != columns.size()) {
    refuse(
        at,
        fmt::format(
            "{} columns, expected {}: {}", cells.size(), columns.size(), fmt::join(columns, ",")));
  }
  Fields fields;
  for (std::size_t i = 0; i < cells.size(); ++i) fields[columns[i]] = cells[i];
  return fields;
}

std::string word_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// As a cell of CSV has it: an array's items between spaces, an object's members as NAME=VALUE.
std::string cell_of(const json& value) {
  if (!value.is_structured()) return word_of(value);
  std::string cell;
  for (const auto& [key, item] : value.items()) {
    if (!cell.empty()) cell += ' ';
    cell += value.is_object() ? key + "=" + word_of(item) : word_of(item);
  }
  return cell;
}

Fields json_fields(const Place& at, const std::string& line) {
  try {
    const json j = read_json(line, fmt::format("--shapes: {}:{}", at.file, at.line));
    Fields fields{{"op", j.at("op").get<std::string>()}, {"dims", cell_of(j.at("dims"))}};
    for (const auto& [key, value] : j.items()) {
      if (std::ranges::find(kColumns, key) == kColumns.end()) {
        refuse(at, fmt::format("unknown key '{}' (known: {})", key, fmt::join(kColumns, ", ")));
      }
      fields[key] = cell_of(value);
    }
    return fields;
  } catch (const json::exception& e) {
    refuse(at, e.what());
  }
}

}  // namespace

std::vector<const Variant*> variants_of(const ShapeRow& row) {
  std::vector<const Variant*> fitting;
  for (const Variant& v : row.op->variants) {
    const auto has = [&](const auto& dim) { return mentions(v, dim.first); };
    const bool asked = row.variant == nullptr || row.variant == &v;
    if (asked && std::ranges::all_of(row.dims, has)) fitting.push_back(&v);
  }
  return fitting;
}

std::vector<ShapeRow> parse_shapes(std::string_view text, const std::string& origin) {
  std::vector<ShapeRow> rows;
  std::istringstream in{std::string(text)};
  std::size_t number = 0;
  std::vector<std::string> columns;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    const Place at{origin, number};
    if (line.starts_with('{'))
      rows.push_back(row_of(at, json_fields(at, line)));
    else if (columns.empty())
      columns = csv_columns(at, line);
    else
      rows.push_back(row_of(at, csv_fields(at, columns, line)));
  }
  if (rows.empty()) throw UsageError(fmt::format("--shapes: {} has no rows", origin));
  return rows;
}

std::vector<ShapeRow> read_shapes(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file)) {
    throw UsageError(
        fmt::format("--shapes: cannot read '{}'; name a CSV or JSON lines file", file.string()));
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return parse_shapes(text, file.string());
}

}  // namespace bic
