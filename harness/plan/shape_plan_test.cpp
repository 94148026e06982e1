#include "harness/plan/shape_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/plan/selection.h"

namespace bic {
namespace {

constexpr Seed kSeed{0xb1c0};

std::vector<Cell> plan_of(const std::string& csv, const SelectionText& text = {}) {
  static Selection selection;  // rows must outlive the plan
  selection = make_selection(text);
  selection.shapes = parse_shapes(csv, "f");
  selection.draws = false;
  return make_plan(selection, Strength::kQuick);
}

TEST(ShapesPlan, HasOnlyTheGivenSizesAndTheirBatches) {
  const auto cells = plan_of("label,op,dims,batch\na,mm,k=70 n=9,1 8\nb,mm,k=33,\n");
  EXPECT_EQ(cells.size(), find_op("mm")->dtypes.size());
  for (const Cell& cell : cells) {
    EXPECT_EQ(cell.op->name, "mm");
    EXPECT_GE(cell.problems.size(), 6u);
    for (const ProblemPlan& plan : cell.problems) {
      const Problem p = draw(plan, kSeed, {}, 0);
      const bool first = p.dims.at("k") == 70;
      EXPECT_TRUE(first || p.dims.at("k") == 33);
      if (!first) continue;
      EXPECT_EQ(p.dims.at("n"), 9);
      EXPECT_EQ(batches_of(plan, p, make_selection({})), (std::vector<std::int64_t>{1, 8}));
    }
  }
}

TEST(ShapesPlan, TriesRowsWithRelationsOnceAndThoseAlone) {
  const auto cells = plan_of(
      "op,dtype,dims,relations\nmm,fp32,k=70 n=9,repeat alone\nmm,fp16,k=70 n=9,\n"
      "mm,fp16,k=71 n=9,layout\n");
  ASSERT_EQ(cells.size(), 2u);
  const Selection all = make_selection({});
  for (const Cell& cell : cells) {
    std::size_t limited = 0;
    for (const ProblemPlan& plan : cell.problems) {
      std::set<std::string_view> has, named;
      for (const Relation& r : relations()) {
        if (has_cases(plan, r, all)) has.insert(r.name);
      }
      for (const Relation* r : plan.shape->relations) named.insert(r->name);
      limited += named.empty() ? 0 : 1;
      EXPECT_TRUE(named.empty() ? has.size() > 5 : has == named);
    }
    EXPECT_EQ(limited, 1u);
    EXPECT_EQ(cell.problems.size(), cell.dtype == DType::kFloat32 ? 1u : 7u);
  }
}

TEST(ShapesPlan, FollowsDtypeVariantLawsAndAttributes) {
  const auto cells = plan_of(
      "id,op,variant,dtype,dims,laws,accuracy,attributes\n"
      "c17,baddbmm,scaled,fp16,k=128 m=1 n=5,wide,normal ones,alpha=0x1p-3\n");
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].dtype, DType::kFloat16);
  std::multiset<Law> accuracy;
  for (const ProblemPlan& plan : cells[0].problems) {
    const Problem p = draw(plan, kSeed, {}, 0);
    EXPECT_EQ(p.id, "c17");
    EXPECT_EQ(p.variant->name, "scaled");
    EXPECT_EQ(p.attributes.at("alpha"), "0x1p-3");
    EXPECT_NE(p.attributes.at("beta"), "");
    if (p.accuracy)
      accuracy.insert(p.law);
    else
      EXPECT_EQ(p.law, Law::kWide);
  }
  EXPECT_EQ(accuracy, (std::multiset<Law>{Law::kNormal, Law::kOnes}));
  EXPECT_EQ(cells[0].problems.size(), 6u + 2u);
}

TEST(ShapesPlan, RepeatsRowsUntilEnoughProblemsCanProveBits) {
  // Two terms show no order.
  const auto cells = plan_of("op,dtype,dims\nmm,fp32,k=2\nmm,fp32,k=64\n");
  int proving = 0;
  for (const ProblemPlan& plan : cells.at(0).problems) {
    proving += draw(plan, kSeed, {}, 0).proves() == ControlKind::kOrder;
  }
  EXPECT_EQ(proving, 6);
  EXPECT_EQ(plan_of("op,dtype,dims\nmm,fp32,k=2\n").at(0).problems.size(), 6u);
}

TEST(ShapesPlan, GivesAnIdTheSameProblemsWhateverStandsBesideIt) {
  const std::string header = "id,op,dtype,dims\n", row = "b,mm,fp32,k=64 n=3\n";
  const auto seeds_of = [](const std::vector<Cell>& cells) {
    std::vector<std::uint64_t> seeds;
    for (const ProblemPlan& plan : cells.at(0).problems) {
      const Problem p = draw(plan, kSeed, {}, 0);
      if (p.id == "b") seeds.push_back(p.seed.value);
    }
    return seeds;
  };
  const auto alone = seeds_of(plan_of(header + row));
  const auto second = seeds_of(plan_of(header + "a,mm,fp32,k=64 n=3\n" + row));
  ASSERT_EQ(alone.size(), 6u);
  ASSERT_EQ(second.size(), 3u);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), alone.begin()));
}

TEST(StandardPlan, HasTheSizesOfPublicModelsToo) {
  std::size_t shaped = 0;
  const Selection all = make_selection({});
  for (const Cell& cell : make_plan(all, Strength::kStandard)) {
    for (const ProblemPlan& plan : cell.problems) shaped += plan.shape != nullptr;
  }
  EXPECT_GE(shaped, 4 * 10u);
}

TEST(PublicPlan, LetsEveryCellProveEveryRelationOfItsOp) {
  const Selection s = make_selection({.suites = {"public"}});
  EXPECT_TRUE(s.filtered);
  std::set<std::string> planned, ids;
  for (const ShapeRow& row : public_reports()) ids.insert(row.id);
  for (const Cell& cell : make_plan(s, Strength::kQuick)) {
    for (const Relation& r : relations()) {
      int proving = 0, required = 0;
      for (const ProblemPlan& plan : cell.problems) {
        const Problem p = draw(plan, kSeed, {}, 0);
        planned.insert(p.id);
        const bool has_it = r.required(*cell.op, *plan.variant);
        required += has_it;
        proving += has_it && !p.accuracy && p.proves() != ControlKind::kValue &&
                   (plan.only == nullptr || plan.only->name == r.name);
      }
      if (required == 0) continue;
      EXPECT_GE(proving, 5) << cell.op->name << " " << name(cell.dtype) << " " << r.name;
    }
  }
  EXPECT_EQ(planned, ids);
}

}  // namespace
}  // namespace bic
