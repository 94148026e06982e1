#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "results_schema/case_name.h"
#include "results_schema/count_red.h"
#include "results_schema/render/failure_text.h"
#include "results_schema/render/html/bit_map.h"
#include "results_schema/render/html/view.h"
#include "results_schema/render/markdown.h"

namespace bic::report::page {
namespace {

constexpr double kCell = 17, kLeft = 58, kTop = 34, kBottom = 22;
constexpr int kColours = 7;  ///< classes of page.css; letters go on

using RowName = std::pair<std::string, DType>;

RowName row_of(const std::string& case_name) {
  const CaseName c = parse_case_name(case_name);
  return {c.op, c.dtype};
}

std::string letter_of(int bits) {
  if (bits == BitMap::kNoOutput) return "!";
  if (bits == 0) return "•";
  return bits < 26 ? std::string(1, static_cast<char>('A' + bits)) : "+";
}

std::string class_of(int bits) {
  if (bits == BitMap::kNoOutput) return "kx";
  return fmt::format("k{}", bits == 0 ? 0 : 1 + (bits - 1) % kColours);
}

std::string bits_text(int bits) {
  if (bits == BitMap::kNoOutput) return "no output";
  return bits == 0 ? "the bits it has alone" : "bits " + letter_of(bits);
}

/// The sizes or places that are there, each with where it is drawn.
std::map<std::int64_t, double> scale(const std::set<std::int64_t>& values, double from) {
  std::map<std::int64_t, double> at;
  for (const std::int64_t v : values) at[v] = from + kCell * static_cast<double>(at.size());
  return at;
}

std::string map_text(const BitMap& map) {
  const std::size_t places = map.cells.size() - 1;
  std::vector<std::string> seen;
  if (const auto& at = map.different; !at.empty()) {
    seen.push_back(
        fmt::format("in {} of {} places a sample had other bits than alone, from B={} on",
                    at.size(),
                    places,
                    at.begin()->first));
  }
  if (const auto& at = map.without_output; !at.empty()) {
    seen.push_back(fmt::format(
        "in {} of {} places no output came, first at B={}", at.size(), places, at.begin()->first));
  }
  return fmt::format("Problem {}: {}. Of {} problems, {} with other bits.",
                     map.problem,
                     fmt::join(seen, "; "),
                     map.problems,
                     map.differing_problems);
}

data cell_view(std::int64_t batch, std::int64_t position, int bits, double x, double y) {
  return object{{"x", length_text(x)},
                {"y", length_text(y)},
                {"tx", length_text(x + 7.5)},
                {"ty", length_text(y + 11)},
                {"class", class_of(bits)},
                {"letter", letter_of(bits)},
                {"hint", fmt::format("B={} position {}: {}", batch, position, bits_text(bits))}};
}

data map_view(const BitMap& map) {
  std::set<std::int64_t> batches, positions;
  for (const auto& [at, cell] : map.cells) {
    batches.insert(at.first);
    positions.insert(at.second);
  }
  const auto x = scale(batches, kLeft), y = scale(positions, kTop);
  const double right = kLeft + kCell * static_cast<double>(x.size());
  const double bottom = kTop + kCell * static_cast<double>(y.size());
  list columns, lines, cells;
  for (const auto& [batch, left] : x) {
    columns.push_back(object{{"x", length_text(left + 10)},
                             {"y", length_text(kTop - 5)},
                             {"batch", std::to_string(batch)}});
  }
  for (const auto& [position, top] : y) {
    lines.push_back(object{{"x", length_text(kLeft - 6)},
                           {"y", length_text(top + 12)},
                           {"position", std::to_string(position)}});
  }
  for (const auto& [at, cell] : map.cells) {
    const auto [batch, position] = at;
    cells.push_back(cell_view(batch, position, cell.bits, x.at(batch), y.at(position)));
  }
  return object{{"columns", columns},
                {"lines", lines},
                {"cells", cells},
                {"width", length_text(std::max(right + 20, 160.0))},
                {"height", length_text(bottom + kBottom)},
                {"axis_x", length_text((kLeft + right) / 2)},
                {"axis_y", length_text(bottom + 15)},
                {"middle", length_text((kTop + bottom) / 2)},
                {"text", map_text(map)}};
}

list failed_relations(const OpRow& row) {
  list failed;
  for (const RelationRow& r : row.relations) {
    if (r.failed == 0) continue;
    failed.push_back(object{{"relation", r.relation},
                            {"count", count_text(r.failed)},
                            {"all", count_text(r.passed + r.failed + r.vacuous)}});
  }
  return failed;
}

/// "repeat, fresh"; nothing where none held.
data held_relations(const OpRow& row) {
  std::vector<std::string_view> held;
  for (const RelationRow& r : row.relations) {
    if (r.failed == 0 && r.passed > 0) held.push_back(r.relation);
  }
  if (held.empty()) return false;
  return fmt::format("{}", fmt::join(held, ", "));
}

class FailingRows {
 public:
  explicit FailingRows(const Report& report) : report_(report) {
    std::set<RowName> red;
    for (const OpRow& row : report.ops) {
      if (count_red(row.cases) > 0) red.insert({row.op, row.dtype});
    }
    for (const CaseResult& c : report.cases) {
      const RowName of = row_of(c.case_name);
      if (red.contains(of)) cases_[of].push_back(&c);
    }
    for (const Failure& f : report.failures) failures_[row_of(f.found)].push_back(&f);
  }

  data view(std::size_t number) const {
    const OpRow& row = report_.ops[number];
    const RowName of{row.op, row.dtype};
    const list shrunk = shrunk_view(of);
    const auto cases = cases_.find(of);
    const auto map = cases == cases_.end() ? std::nullopt : bit_map(cases->second);
    return object{{"row", std::to_string(number)},
                  {"dtype", std::string(name(row.dtype))},
                  {"level", std::string(name(row.level))},
                  {"red", count_text(count_red(row.cases))},
                  {"cases", count_text(row.cases.sum())},
                  {"why", row.why.empty() ? data(false) : data(row.why)},
                  {"map", map ? map_view(*map) : data(false)},
                  {"no_map",
                   "In no batch that was compared with the sample alone did the sample's bits "
                   "move; the relations say what did."},
                  {"failed", failed_relations(row)},
                  {"held", held_relations(row)},
                  {"has_shrunk", !shrunk.empty()},
                  {"shrunk_count",
                   shrunk.size() == 1 ? "1 failure" : fmt::format("{} failures", shrunk.size())},
                  {"shrunk", shrunk}};
  }

 private:
  list shrunk_view(const RowName& of) const {
    list views;
    const auto at = failures_.find(of);
    if (at == failures_.end()) return views;
    for (const Failure* f : at->second) {
      const std::string text =
          failure_text(f->shrunk, "bi-conform", backend_words(report_)) + "\n" + facts_text(*f);
      views.push_back(object{{"text", text}, {"repro", repro_line(report_, f->shrunk.case_name)}});
    }
    return views;
  }

  const Report& report_;
  std::map<RowName, std::vector<const CaseResult*>> cases_;
  std::map<RowName, std::vector<const Failure*>> failures_;
};

}  // namespace

void add_failing_ops(const Report& report, data& page) {
  const FailingRows failing(report);
  list ops;
  for (const OpRows& op : by_op(report)) {
    std::int64_t red = 0;
    list rows;
    for (const std::size_t row : op.rows) {
      const std::int64_t count = count_red(report.ops[row].cases);
      if (count > 0) rows.push_back(failing.view(row));
      red += count;
    }
    if (rows.empty()) continue;
    ops.push_back(object{{"number", std::to_string(ops.size())},
                         {"op", op.op},
                         {"red", count_text(red)},
                         {"rows", rows}});
  }
  page.set("has_failures", !ops.empty());
  page.set("failing", ops);
}

}  // namespace bic::report::page
