#include "harness/plan/shape_plan.h"

#include <algorithm>
#include <map>

#include "results_schema/axis.h"

namespace bic {
namespace {

// Where the indices of problems with given sizes begin: drawn ones never come so far.
constexpr int kFirstShape = 4096;

using Fits = std::function<bool(const Variant&)>;

/// Adds problems of given sizes to a cell.
class ShapePlan {
 public:
  ShapePlan(Cell& cell, const std::vector<ShapeRow>& rows) : cell_(cell) {
    for (const ShapeRow& row : rows) {
      const bool has_dtype =
          row.dtypes.empty() || std::ranges::find(row.dtypes, cell.dtype) != row.dtypes.end();
      if (row.op == cell.op && has_dtype) rows_.push_back(&row);
    }
  }

  /// Each row at least once, and those of all relations in turn until `count` problems can prove
  /// bits.
  void add_counting(int count);
  /// Further problems for this relation alone, where it is required of fewer than `count`.
  void add_for_relation(const Relation& relation, int count);
  void add_accuracy();

 private:
  bool add(const ShapeRow& row, const Fits& fits, const Relation* only);
  bool can_prove(const ShapeRow& row, const Variant& variant) const;
  int proving(const Fits& fits, const Relation* relation = nullptr) const;

  Cell& cell_;
  std::vector<const ShapeRow*> rows_;
  std::map<const ShapeRow*, int> turns_;  ///< problems of a row so far
};

/// False where the row's reduced axis is too short for any order to show.
bool ShapePlan::can_prove(const ShapeRow& row, const Variant& variant) const {
  if (cell_.op->control != ControlKind::kOrder) return true;
  std::int64_t extent = 1;
  for (const std::string& axis : variant.reduced) {
    for (const DimRange& d : cell_.op->dims) {
      // Where it is drawn, it is long enough.
      if (axis_mentions(axis, d.name) && !row.dims.contains(d.name)) return true;
    }
    extent *= axis_extent(axis, row.dims, 1);
  }
  return extent >= shortest_telling_axis(*cell_.op, cell_.dtype);
}

/// Problems that can prove bits, of every relation or of this one.
int ShapePlan::proving(const Fits& fits, const Relation* relation) const {
  return static_cast<int>(std::ranges::count_if(cell_.problems, [&](const ProblemPlan& p) {
    const bool counts = p.shape != nullptr && p.shape->relations.empty() && !p.accuracy &&
                        can_prove(*p.shape, *p.variant);
    return counts && fits(*p.variant) && (p.only == nullptr || p.only == relation);
  }));
}

/// The next problem of a row, of its variants that fit. False when there is none.
bool ShapePlan::add(const ShapeRow& row, const Fits& fits, const Relation* only) {
  std::vector<const Variant*> variants = variants_of(row);
  std::erase_if(variants, [&](const Variant* v) { return !fits(*v); });
  if (!row.proves_bits || variants.empty()) return false;
  // Rows with a name do not change each other's seeds.
  const int all = static_cast<int>(cell_.problems.size());
  const int turn = row.id.empty() ? all : turns_[&row]++;
  const Variant* v = variants[static_cast<std::size_t>(turn) % variants.size()];
  const Law law = law_of(row.laws.empty() ? cell_.op->laws : row.laws, turn);
  cell_.problems.push_back({cell_.op, v, cell_.dtype, law, kFirstShape + turn, false, only, &row});
  return true;
}

void ShapePlan::add_counting(int count) {
  const Fits any = [](const Variant&) { return true; };
  for (int round = 0, added = 1; added > 0; ++round) {
    added = 0;
    for (const ShapeRow* row : rows_) {
      const bool once = !row->relations.empty();
      const bool enough = round > 0 && (once || proving(any) >= count);
      const bool hopeless = round > 0 && round >= count && proving(any) == 0;
      if (!enough && !hopeless) added += add(*row, any, nullptr);
    }
  }
}

void ShapePlan::add_for_relation(const Relation& relation, int count) {
  const Fits has_it = [&](const Variant& v) { return relation.required(*cell_.op, v); };
  if (proving(has_it) == 0) return;
  while (proving(has_it, &relation) < count) {
    for (const ShapeRow* row : rows_) {
      const bool fits = row->relations.empty() && proving(has_it, &relation) < count;
      if (fits) add(*row, has_it, &relation);
    }
  }
}

void ShapePlan::add_accuracy() {
  for (const ShapeRow* row : rows_) {
    const auto variants = variants_of(*row);
    for (std::size_t i = 0; i < row->accuracy_laws.size(); ++i) {
      cell_.problems.push_back({cell_.op,
                                variants[i % variants.size()],
                                cell_.dtype,
                                row->accuracy_laws[i],
                                kFirstShape + static_cast<int>(i),
                                true,
                                nullptr,
                                row});
    }
  }
}

}  // namespace

Law law_of(const std::vector<Law>& laws, int index) {
  if (index % 2 == 0 || laws.size() == 1) return laws[0];
  return laws[1 + static_cast<std::size_t>(index / 2) % (laws.size() - 1)];
}

void add_shapes(Cell& cell, const std::vector<ShapeRow>& rows, int count) {
  ShapePlan plan(cell, rows);
  plan.add_counting(count);
  for (const Relation& r : relations()) plan.add_for_relation(r, count);
  plan.add_accuracy();
}

}  // namespace bic
