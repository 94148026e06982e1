#include "harness/plan/plan.h"

#include <algorithm>
#include <array>

#include "generators/dims.h"
#include "harness/plan/arrangement.h"
#include "harness/plan/shape_plan.h"
#include "results_schema/axis.h"
#include "results_schema/error.h"

namespace bic {
namespace {

// Sixteen: each of five laws meets three of the eight short lengths, and each mask of attention
// three laws.
constexpr int kCounting = 6, kAccuracy = 16;
// Of a whole model no more than a level needs: one of its problems takes as long as ten of an op.
constexpr int kModelCounting = 5;
// What a sample may cost: the largest batch holds 257 of them, and each size is tried.
constexpr std::int64_t kFlops = 500'000, kQuickElements = 2048;
// With 257 samples of this many elements a library opens a parallel region (ATen's grain is 32768).
// Odd: where dims shrink until a problem fits, they end here.
constexpr std::int64_t kRow = 161;
// Shorter than every vector of a 16-bit type: alone, all of a sample is tail.
constexpr std::int64_t kSweepRow = 15;
// What all trials of one batch size after the other may cost of a model's size.
constexpr std::int64_t kShapeFlops = 4'000'000'000;
// Where sharp bounds bite: for long sums even a bad input rounding stays far inside the bound.
constexpr std::int64_t kShort[] = {1, 2, 3, 5, 8, 16, 17, 32};

int factor(Strength s) { return s == Strength::kQuick ? 1 : s == Strength::kStandard ? 4 : 16; }

bool sweeps(const OpSpec& op, Law law, DType dtype) {
  return op.control == ControlKind::kTail && law == Law::kSweep && size_of(dtype) == 2;
}

/// Problems of the variants that a relation is required of, where others leave it with fewer than
/// `count`.
void add_for_relation(Cell& cell, const Relation& relation, int count) {
  const OpSpec& op = *cell.op;
  const auto has_it = [&](const Variant& v) { return relation.required(op, v); };
  std::vector<const Variant*> fitting;
  for (const Variant& v : op.variants) {
    if (has_it(v)) fitting.push_back(&v);
  }
  if (fitting.empty()) return;
  auto have = std::ranges::count_if(
      cell.problems, [&](const ProblemPlan& p) { return p.only == nullptr && has_it(*p.variant); });
  for (; have < count; ++have) {
    const int i = static_cast<int>(cell.problems.size());
    const Variant* v = fitting[static_cast<std::size_t>(i) % fitting.size()];
    cell.problems.push_back({&op, v, cell.dtype, law_of(op.laws, i), i, false, &relation});
  }
}

/// `count`, or one for each variant.
int at_least_each(const OpSpec& op, int count) {
  return std::max(count, static_cast<int>(op.variants.size()));
}

void add_counting(Cell& cell, int count) {
  const OpSpec& op = *cell.op;
  if (sweeps(op, op.laws[0], cell.dtype)) {
    for (const Variant& v : op.variants) {
      for (int i = 0; i < kSweepShares; ++i) {
        cell.problems.push_back({&op, &v, cell.dtype, op.laws[0], i, false});
      }
    }
    return;
  }
  for (int i = 0; i < at_least_each(op, count); ++i) {
    const Variant& v = op.variants[static_cast<std::size_t>(i) % op.variants.size()];
    cell.problems.push_back({&op, &v, cell.dtype, law_of(op.laws, i), i, false});
  }
  for (const Relation& r : relations()) add_for_relation(cell, r, count);
}

/// Problems of a whole model, its presets in turn; one of each that is there on request only.
/// Accuracy is judged on all of them.
void add_presets(Cell& cell, const Selection& selection, int count) {
  const OpSpec& op = *cell.op;
  std::vector<const Variant*> daily;
  const auto add = [&](const Variant* v, int i) {
    cell.problems.push_back({&op, v, cell.dtype, law_of(op.laws, i), i, false});
  };
  for (const Variant& v : op.variants) {
    if (selection.takes_preset(v) && !v.on_request) daily.push_back(&v);
  }
  for (int i = 0; !daily.empty() && i < count; ++i) {
    add(daily[static_cast<std::size_t>(i) % daily.size()], i);
  }
  for (const Variant& v : op.variants) {
    if (selection.takes_preset(v) && v.on_request) add(&v, 0);
  }
}

void add_accuracy(Cell& cell, int count) {
  const OpSpec& op = *cell.op;
  for (int i = 0; i < at_least_each(op, count); ++i) {
    const Variant& v = op.variants[static_cast<std::size_t>(i) % op.variants.size()];
    const Law law = op.accuracy_laws[static_cast<std::size_t>(i) % op.accuracy_laws.size()];
    cell.problems.push_back({&op, &v, cell.dtype, law, i, true});
  }
}

bool is_reduced(const Variant& v, const std::string& dim) {
  return std::ranges::any_of(v.reduced,
                             [&](const std::string& axis) { return axis_mentions(axis, dim); });
}

/// The least extent of a dim with which a reduced axis, of itself or a multiple, has `terms`.
std::int64_t least_extent(const OpSpec& op, const std::string& axis, std::int64_t terms) {
  Dims ones;
  for (const DimRange& r : op.dims) ones[r.name] = 1;
  const std::int64_t each = axis_extent(axis, ones, 1);
  return (terms + each - 1) / each;
}

/// The ranges of the variant's dims for this problem.
std::vector<DimRange> ranges_of(const ProblemPlan& plan) {
  std::vector<DimRange> ranges;
  const Variant& v = *plan.variant;
  for (DimRange r : plan.op->dims) {
    if (!mentions(v, r.name)) continue;
    const bool last_reduced = !v.reduced.empty() && axis_mentions(v.reduced.back(), r.name);
    if (plan.accuracy) {
      const auto length = kShort[static_cast<std::size_t>(plan.index) % std::size(kShort)];
      r.lo = is_reduced(v, r.name) && !last_reduced ? 1
             : last_reduced                         ? length
                                                    : std::min<std::int64_t>(r.lo, 1);
      r.hi = is_reduced(v, r.name) ? r.lo : std::min<std::int64_t>(r.hi, 33);
    } else if (sweeps(*plan.op, plan.law, plan.dtype)) {
      r.lo = r.hi = kSweepRow;
    } else if (last_reduced || (v.reduced.empty() && r.hi >= kRow)) {
      // A range that ends before a row of that length is of an op with other long axes.
      const bool is_short = plan.op->contraction || r.hi < kRow;
      const std::int64_t terms = is_short ? shortest_telling_axis(*plan.op, plan.dtype) : kRow;
      const std::int64_t least =
          last_reduced ? least_extent(*plan.op, v.reduced.back(), terms) : terms;
      r.lo = std::min(r.hi, std::max(r.lo, least));
    }
    ranges.push_back(r);
  }
  return ranges;
}

/// Of the sizes at which kernels change their split, those that the work allows; the smallest
/// always.
std::vector<std::int64_t> affordable(std::int64_t flops) {
  std::vector<std::int64_t> batches{1, 2, 5};
  std::int64_t samples = 0;
  for (std::int64_t batch : {17, 33, 65, 129, 257}) {
    samples += batch;
    if (samples * flops > kShapeFlops) break;
    batches.push_back(batch);
  }
  return batches;
}

bool any_unaligned(const Dims& dims) {
  return std::ranges::any_of(dims, [](const auto& d) { return !is_aligned(d.second); });
}

Problem undrawn(const ProblemPlan& plan, Law law) {
  Problem problem{.op = plan.op,
                  .variant = plan.variant,
                  .dtype = plan.dtype,
                  .dims = {},
                  .attributes = plan.variant->attributes,
                  .law = law,
                  .seed = {},
                  .accuracy = plan.accuracy};
  if (plan.shape == nullptr) return problem;
  problem.id = plan.shape->id;
  for (const auto& [attribute, value] : plan.shape->attributes) {
    problem.attributes[attribute] = value;
  }
  return problem;
}

Seed seed_of(const ProblemPlan& plan, Law law, Seed run_seed, int attempt) {
  Seed s = derive(derive(run_seed, plan.op->name), name(plan.dtype));
  s = derive(derive(s, name(law)), plan.accuracy ? "accuracy" : "bits");
  if (plan.shape != nullptr && !plan.shape->id.empty()) s = derive(s, plan.shape->id);
  if (!plan.accuracy && sweeps(*plan.op, law, plan.dtype)) {
    return {(s.value & ~kShareBits) | static_cast<std::uint64_t>(plan.index)};
  }
  return derive(derive(s, static_cast<std::uint64_t>(plan.index)),
                static_cast<std::uint64_t>(attempt));
}

}  // namespace

std::string_view name(Strength s) {
  return s == Strength::kQuick ? "quick" : s == Strength::kStandard ? "standard" : "exhaustive";
}

namespace {

/// Whether the problem would have a case.
bool selected(const ProblemPlan& p, const Selection& selection) {
  if (p.accuracy) return selection.takes(*p.op, *p.variant, kAccuracyRelation, p.dtype);
  return std::ranges::any_of(selection.relations,
                             [&](const Relation* r) { return has_cases(p, *r, selection); });
}

/// Problems of an op: of drawn sizes, of given ones, or of both.
void add_problems(Cell& cell, const Selection& selection, Strength strength) {
  if (selection.draws) {
    add_counting(cell, kCounting * factor(strength));
    if (strength != Strength::kQuick && selection.dims.empty()) add_shapes(cell, model_shapes(), 0);
    add_accuracy(cell, kAccuracy * factor(strength));
  }
  add_shapes(cell, selection.shapes, selection.draws ? 0 : kCounting);
}

}  // namespace

bool has_cases(const ProblemPlan& plan, const Relation& relation, const Selection& selection) {
  const auto among = [&](const std::vector<const Relation*>& named) {
    return named.empty() || std::ranges::find(named, relation.name, &Relation::name) != named.end();
  };
  return (plan.only == nullptr || plan.only->name == relation.name) &&
         (plan.shape == nullptr || among(plan.shape->relations)) &&
         relation.required(*plan.op, *plan.variant) &&
         selection.takes(*plan.op, *plan.variant, relation.name, plan.dtype);
}

std::vector<Cell> make_plan(const Selection& selection, Strength strength) {
  std::vector<Cell> cells;
  for (const OpSpec* op : selection.ops) {
    for (DType dtype : selection.dtypes) {
      if (std::ranges::find(op->dtypes, dtype) == op->dtypes.end()) continue;
      Cell cell{op, dtype, {}, cells.size()};
      if (!op->suite.empty()) {
        add_presets(cell, selection, kModelCounting * factor(strength));
      } else {
        add_problems(cell, selection, strength);
      }
      std::erase_if(cell.problems, [&](const ProblemPlan& p) { return !selected(p, selection); });
      if (strength == Strength::kQuick) {
        for (ProblemPlan& p : cell.problems) p.most_elements = kQuickElements;
      }
      if (!cell.problems.empty()) cells.push_back(std::move(cell));
    }
  }
  return cells;
}

Problem draw(const ProblemPlan& plan, Seed run_seed, const Dims& fixed, int attempt) {
  constexpr int kLastAttempt = 3;
  const Law law = attempt < kLastAttempt || plan.accuracy ? plan.law : plan.op->laws[0];
  Problem problem = undrawn(plan, law);
  problem.seed = seed_of(plan, law, run_seed, attempt);
  std::vector<DimRange> ranges = ranges_of(plan);
  const Dims& given = plan.shape == nullptr ? fixed : plan.shape->dims;
  for (DimRange& r : ranges) {
    if (const auto at = given.find(r.name); at != given.end()) r.lo = r.hi = at->second;
  }
  // The first problem of a cell may be aligned; the others hide less.
  const bool free = given.empty() && plan.index > 0 && !problem.sweeps();
  problem.dims = draw_dims(ranges, derive(problem.seed, "dims"), [&](const Dims& dims) {
    Problem sized = problem;
    sized.dims = dims;
    if (!given.empty() || !plan.op->suite.empty()) return true;  // sizes are as they are
    return sized.flops() <= kFlops && sized.elements() <= plan.most_elements &&
           (!free || plan.accuracy || any_unaligned(dims));
  });
  return problem;
}

std::vector<std::int64_t> batches_of(const ProblemPlan& plan,
                                     const Problem& problem,
                                     const Selection& selection) {
  if (!has_batch(*problem.variant)) return {1};
  if (problem.accuracy) return {3};
  std::vector<std::int64_t> batches = selection.batches;
  if (batches.empty() && plan.shape != nullptr) batches = plan.shape->batches;
  if (batches.empty()) batches = plan.variant->batches;
  const bool given = !batches.empty();
  if (!given) batches.assign(batch_sizes().begin(), batch_sizes().end());
  if (!given && plan.shape != nullptr) batches = affordable(problem.flops());
  if (!given && problem.sweeps()) batches.push_back(sweep_samples(problem));
  std::ranges::sort(batches);
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

}  // namespace bic
