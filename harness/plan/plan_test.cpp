#include "harness/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "generators/dims.h"
#include "harness/plan/selection.h"

namespace bic {
namespace {

const Selection kAll = make_selection({});
constexpr Seed kSeed{0xb1c0};

struct Drawn {
  ProblemPlan plan;
  Problem problem;
};

std::vector<Drawn> draw_cell(const Cell& cell, Seed seed, bool accuracy) {
  std::vector<Drawn> all;
  for (const ProblemPlan& p : cell.problems) {
    if (p.accuracy == accuracy) all.push_back({p, draw(p, seed, {}, 0)});
  }
  return all;
}

std::string label(const Cell& cell) { return cell.op->name + " " + std::string(name(cell.dtype)); }

bool unaligned(const Dims& dims) {
  return std::ranges::any_of(dims, [](const auto& d) { return !is_aligned(d.second); });
}

TEST(QuickPlan, HasACellForEachOpAndDtype) {
  std::set<std::pair<std::string, DType>> cells;
  for (const Cell& cell : make_plan(kAll, Strength::kQuick))
    cells.emplace(cell.op->name, cell.dtype);
  std::size_t declared = 0;
  for (const OpSpec& op : registry()) declared += op.dtypes.size();
  EXPECT_EQ(cells.size(), declared);
}

TEST(QuickPlan, HasSixProblemsThatCountAndFiveUnalignedOnes) {
  for (const Cell& cell : make_plan(kAll, Strength::kQuick)) {
    int counting = 0, odd = 0;
    for (const Drawn& d : draw_cell(cell, kSeed, false)) {
      counting += d.problem.proves() == cell.op->control;
      odd += unaligned(d.problem.dims);
    }
    EXPECT_GE(counting, 6) << label(cell);
    EXPECT_GE(odd, 5) << label(cell);
  }
}

TEST(QuickPlan, HasTenAccuracyProblemsThatProveNoBits) {
  for (const Cell& cell : make_plan(kAll, Strength::kQuick)) {
    const auto all = draw_cell(cell, kSeed, true);
    EXPECT_GE(all.size(), 10u) << label(cell);
    for (const Drawn& d : all) EXPECT_EQ(d.problem.proves(), ControlKind::kValue);
  }
}

TEST(QuickPlan, ReachesTheShortAxesWhereBoundsAreSharp) {
  for (const Cell& cell : make_plan(kAll, Strength::kQuick)) {
    std::set<std::int64_t> lengths;
    for (const Drawn& d : draw_cell(cell, kSeed, true)) {
      if (d.plan.variant->reduced.empty()) continue;
      lengths.insert(d.problem.dims.at(d.plan.variant->reduced.back()));
    }
    if (cell.op->control == ControlKind::kOrder) {
      EXPECT_GE(lengths.size(), 6u) << label(cell);
    }
  }
}

TEST(QuickPlan, TriesEveryVariant) {
  for (const Cell& cell : make_plan(kAll, Strength::kQuick)) {
    std::set<const Variant*> counting, accuracy;
    for (const ProblemPlan& p : cell.problems) {
      (p.accuracy ? accuracy : counting).insert(p.variant);
    }
    EXPECT_EQ(counting.size(), cell.op->variants.size()) << label(cell);
    EXPECT_EQ(accuracy.size(), cell.op->variants.size()) << label(cell);
  }
}

TEST(QuickPlan, KeepsItsCostForAnySeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const Cell& cell : make_plan(kAll, Strength::kQuick)) {
      std::int64_t all = 0, most = 0;
      const auto problems = draw_cell(cell, Seed{seed}, false);
      for (const Drawn& d : problems) {
        all += d.problem.flops();
        most = std::max(most, d.problem.flops());
      }
      EXPECT_LE(all, 1'000'000 * static_cast<std::int64_t>(problems.size())) << label(cell);
      EXPECT_LE(most, 20'000'000) << label(cell);
    }
  }
}

TEST(QuickPlan, ReachesABatchOf257WithEveryOpThatHasOne) {
  for (const Cell& cell : make_plan(kAll, Strength::kQuick)) {
    for (const Drawn& d : draw_cell(cell, kSeed, false)) {
      const auto batches = batches_of(d.plan, d.problem, kAll);
      if (!has_batch(*d.plan.variant)) {
        EXPECT_EQ(batches, std::vector<std::int64_t>{1}) << label(cell);
        continue;
      }
      EXPECT_TRUE(std::ranges::find(batches, 257) != batches.end()) << label(cell);
      EXPECT_TRUE(std::ranges::is_sorted(batches));
    }
  }
}

TEST(Plan, GrowsWithItsStrength) {
  const auto count = [](Strength s) {
    std::size_t all = 0;
    for (const Cell& cell : make_plan(kAll, s)) all += cell.problems.size();
    return all;
  };
  EXPECT_GT(count(Strength::kStandard), 3 * count(Strength::kQuick));
  EXPECT_GT(count(Strength::kExhaustive), 3 * count(Strength::kStandard));
}

TEST(Plan, LeavesOutWhatIsNotSelected) {
  SelectionText text{.ops = {"mm"}, .dtypes = {"bf16"}, .relations = {"alone"}};
  const auto cells = make_plan(make_selection(text), Strength::kQuick);
  ASSERT_EQ(cells.size(), 1u);
  for (const ProblemPlan& p : cells[0].problems) EXPECT_FALSE(p.accuracy);
  text.relations = {"zeropad"};
  text.ops = {"sum"};
  EXPECT_TRUE(make_plan(make_selection(text), Strength::kQuick).empty());
}

/// Seeds and dims of every problem of an op.
std::multiset<std::pair<Seed, Dims>> problems_of(const Selection& s,
                                                 const std::string& op,
                                                 Seed seed) {
  std::multiset<std::pair<Seed, Dims>> all;
  for (const Cell& cell : make_plan(s, Strength::kQuick)) {
    if (cell.op->name != op) continue;
    for (const ProblemPlan& p : cell.problems) {
      const Problem problem = draw(p, seed, {}, 0);
      all.emplace(problem.seed, problem.dims);
    }
  }
  return all;
}

TEST(Draw, GivesTheSameProblemsForTheSameSeedOnly) {
  EXPECT_EQ(problems_of(kAll, "mm", kSeed), problems_of(kAll, "mm", kSeed));
  for (const auto& [seed, dims] : problems_of(kAll, "mm", Seed{kSeed.value + 1})) {
    for (const auto& [other, ignored] : problems_of(kAll, "mm", kSeed)) EXPECT_NE(seed, other);
  }
}

TEST(Draw, DoesNotKnowOfOtherOps) {
  const Selection alone = make_selection({.ops = {"linear"}});
  EXPECT_EQ(problems_of(alone, "linear", kSeed), problems_of(kAll, "linear", kSeed));
  // The registry may grow: a copy of the op elsewhere in memory and in the list is the same op.
  const OpSpec copy = *find_op("linear");
  Selection grown = alone;
  grown.ops = {find_op("gelu"), &copy, find_op("mm")};
  EXPECT_EQ(problems_of(grown, "linear", kSeed), problems_of(kAll, "linear", kSeed));
}

TEST(Draw, GivesEveryProblemOfARunItsOwnSeed) {
  std::set<Seed> seeds;
  std::size_t problems = 0;
  for (const Cell& cell : make_plan(kAll, Strength::kQuick)) {
    for (const ProblemPlan& p : cell.problems) {
      if (draw(p, kSeed, {}, 0).sweeps()) continue;  // its variants sweep the same inputs
      seeds.insert(draw(p, kSeed, {}, 0).seed);
      ++problems;
    }
  }
  EXPECT_EQ(seeds.size(), problems);
}

TEST(Draw, TakesTheStrongestLawOnTheLastRedraw) {
  const OpSpec& mm = *find_op("mm");
  const ProblemPlan plan{&mm, &mm.variants[0], DType::kFloat32, Law::kNormal, 1, false};
  EXPECT_EQ(draw(plan, kSeed, {}, 0).law, Law::kNormal);
  EXPECT_EQ(draw(plan, kSeed, {}, 2).law, Law::kNormal);
  EXPECT_EQ(draw(plan, kSeed, {}, 3).law, Law::kCancel);
  EXPECT_NE(draw(plan, kSeed, {}, 0).seed, draw(plan, kSeed, {}, 1).seed);
}

TEST(Draw, TakesTheUsersSizes) {
  const OpSpec& mm = *find_op("mm");
  const ProblemPlan plan{&mm, &mm.variants[0], DType::kFloat32, Law::kCancel, 1, false};
  EXPECT_EQ(draw(plan, kSeed, {{"k", 5000}, {"n", 1}}, 0).dims, (Dims{{"k", 5000}, {"n", 1}}));
}

/// As a kernel needs it whose row is made of blocks.
TEST(Draw, MeasuresAReducedAxisThatIsAMultipleOfADim) {
  OpSpec op = *find_op("sum");
  op.variants.resize(1);
  Variant& v = op.variants[0];
  v.inputs[0].axes = {"B", "64*d"};
  v.reduced = {"64*d"};
  op.dims = {{"d", 1, 200}};
  for (int i = 0; i < 6; ++i) {
    const Problem p = draw({&op, &v, DType::kBFloat16, Law::kNormal, i}, kSeed, {}, 0);
    EXPECT_EQ(p.reduced_extent(), 64 * p.dims.at("d"));
    EXPECT_GE(p.dims.at("d"), 3);  // 161 terms, no more than they take
    EXPECT_EQ(p.proves(), ControlKind::kOrder);
  }
  EXPECT_EQ(draw({&op, &v, DType::kBFloat16, Law::kNormal, 0, true}, kSeed, {}, 0).dims.at("d"), 1);
}

}  // namespace
}  // namespace bic
