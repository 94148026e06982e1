#include "harness/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/case_check.h"
#include "harness/typed.h"
#include "results_schema/error.h"
#include "results_schema/json.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

using nlohmann::json;

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

void check(const Place& at, const ShapeRow& row) {
  for (const auto& [dim, n] : row.dims) {
    const auto& dims = row.op->dims;
    if (std::ranges::find(dims, dim, &DimRange::name) != dims.end()) continue;
    std::vector<std::string> known;
    for (const DimRange& d : dims) known.push_back(d.name);
    refuse(at,
           fmt::format(
               "'{}' is no dim of '{}' (known: {})", dim, row.op->name, fmt::join(known, ", ")));
  }
  if (variants_of(row).empty()) {
    refuse(at, fmt::format("no variant of '{}' has all of these dims", row.op->name));
  }
}

ShapeRow csv_row(const Place& at, const std::string& line) {
  const auto cells = split(line, ',');
  if (cells.size() != 4) {
    refuse(at, fmt::format("{} columns, expected 4: label,op,dims,batch", cells.size()));
  }
  ShapeRow row{.label = cells[0], .op = &op_of(at, cells[1]), .dims = {}, .batches = {}};
  for (const std::string& item : split(cells[2], ' ')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) refuse(at, fmt::format("'{}' is not DIM=NUMBER", item));
    row.dims[item.substr(0, equals)] = extent(at, item.substr(equals + 1), kMostExtent);
  }
  for (const std::string& b : split(cells[3], ' ')) {
    row.batches.push_back(extent(at, b, kMostBatch));
  }
  return row;
}

ShapeRow json_row(const Place& at, const std::string& line) {
  try {
    const json j = read_json(line, fmt::format("--shapes: {}:{}", at.file, at.line));
    ShapeRow row{.label = j.value("label", ""),
                 .op = &op_of(at, j.at("op").get<std::string>()),
                 .dims = {},
                 .batches = {}};
    for (const auto& [key, value] : j.items()) {
      if (key != "label" && key != "op" && key != "dims" && key != "batch") {
        refuse(at, fmt::format("unknown key '{}' (known: label, op, dims, batch)", key));
      }
    }
    for (const auto& [dim, n] : j.at("dims").items()) {
      row.dims[dim] = extent(at, n.dump(), kMostExtent);
    }
    for (const json& b : j.value("batch", json::array())) {
      row.batches.push_back(extent(at, b.dump(), kMostBatch));
    }
    return row;
  } catch (const json::exception& e) {
    refuse(at, e.what());
  }
}

}  // namespace

std::vector<const Variant*> variants_of(const ShapeRow& row) {
  std::vector<const Variant*> fitting;
  for (const Variant& v : row.op->variants) {
    const auto has = [&](const auto& dim) { return mentions(v, dim.first); };
    if (std::ranges::all_of(row.dims, has)) fitting.push_back(&v);
  }
  return fitting;
}

std::vector<ShapeRow> parse_shapes(std::string_view text, const std::string& origin) {
  std::vector<ShapeRow> rows;
  std::istringstream in{std::string(text)};
  std::size_t number = 0;
  bool headed = false;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    const Place at{origin, number};
    const bool is_json = line.starts_with('{');
    if (!is_json && !headed) {
      headed = true;
      if (line != "label,op,dims,batch") {
        refuse(at, fmt::format("'{}' is not the header label,op,dims,batch", line));
      }
      continue;
    }
    rows.push_back(is_json ? json_row(at, line) : csv_row(at, line));
    check(at, rows.back());
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
