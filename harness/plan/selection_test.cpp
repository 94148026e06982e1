#include "harness/plan/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "results_schema/error.h"

namespace bic {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const SelectionText& text) {
  try {
    make_selection(text);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

TEST(MakeSelection, TakesAllWithoutFilters) {
  const Selection s = make_selection({});
  EXPECT_EQ(s.ops.size(), registry().size());
  EXPECT_EQ(s.dtypes.size(), kAllDTypes.size());
  EXPECT_EQ(s.relations.size(), relations().size());
  EXPECT_EQ(s.target, Level::kSchedule);
  EXPECT_TRUE(s.accuracy);
  EXPECT_FALSE(s.filtered);
}

TEST(MakeSelection, TakesTheRelationsOfADeviceThereAlone) {
  const auto has_graph = [](const SelectionText& text) {
    return std::ranges::any_of(make_selection(text).relations,
                               [](const Relation* r) { return r->name == "graph"; });
  };
  EXPECT_FALSE(has_graph({}));
  EXPECT_TRUE(has_graph({.on_device = true}));
  EXPECT_TRUE(has_graph({.relations = {"graph"}, .on_device = true}));
  EXPECT_FALSE(has_graph({.relations = {"stream"}, .on_device = true}));
  EXPECT_THAT(error_of({.relations = {"graph"}}), HasSubstr("--device cuda"));
}

TEST(MakeSelection, NamesTheNearestOp) {
  EXPECT_THAT(error_of({.ops = {"softmaks"}}),
              AllOf(HasSubstr("--op"), HasSubstr("'softmaks'"), HasSubstr("softmax")));
}

TEST(MakeSelection, NamesTheNearestDtype) {
  EXPECT_THAT(error_of({.dtypes = {"fp61"}}),
              AllOf(HasSubstr("--dtype"), HasSubstr("'fp61'"), HasSubstr("fp64")));
}

TEST(MakeSelection, NamesTheNearestRelation) {
  EXPECT_THAT(error_of({.relations = {"neighbors"}}),
              AllOf(HasSubstr("--relation"), HasSubstr("'neighbors'"), HasSubstr("neighbours")));
}

TEST(MakeSelection, NamesTheNearestLevel) {
  EXPECT_THAT(error_of({.level = "BI3"}),
              AllOf(HasSubstr("--level"), HasSubstr("'BI3'"), HasSubstr("BI-3")));
  EXPECT_THAT(error_of({.level = "BI-4"}), HasSubstr("--level")) << "no relation is of that level";
  EXPECT_THAT(error_of({.level = "none"}), HasSubstr("--level"));
}

TEST(MakeSelection, NamesTheNearestDim) {
  EXPECT_THAT(error_of({.dims = "kk=7"}),
              AllOf(HasSubstr("--dims"), HasSubstr("'kk'"), HasSubstr("k")));
  EXPECT_THAT(error_of({.ops = {"softmax"}, .dims = "k=7"}), HasSubstr("'k'"))
      << "softmax has no such dim";
}

TEST(MakeSelection, RefusesWhatIsNoSize) {
  for (const char* bad : {"k", "k=", "k=0", "k=-3", "k=4.5", "k=1e3", "k=99999999999999999999"}) {
    EXPECT_THAT(error_of({.dims = bad}), HasSubstr("--dims")) << bad;
  }
  for (const char* bad : {"0", "-1", "x", "1,,2", "65537", "3 "}) {
    EXPECT_THAT(error_of({.batches = bad}), HasSubstr("--batch")) << bad;
  }
}

TEST(MakeSelection, RefusesWhatIsNoRegex) {
  EXPECT_THAT(error_of({.case_pattern = "mm("}), AllOf(HasSubstr("-k"), HasSubstr("'mm('")));
}

TEST(MakeSelection, TakesWhatItIsGiven) {
  const Selection s = make_selection({.ops = {"mm", "sum"},
                                      .dtypes = {"bf16"},
                                      .relations = {"alone", "accuracy"},
                                      .level = "BI-1",
                                      .case_pattern = "mm",
                                      .dims = "k=7,n=281",
                                      .batches = "8,1"});
  EXPECT_EQ(s.ops.size(), 2u);
  EXPECT_EQ(s.dtypes, (std::vector{DType::kBFloat16}));
  EXPECT_EQ(s.relations.size(), 1u);
  EXPECT_TRUE(s.accuracy);
  EXPECT_EQ(s.target, Level::kBatch);
  EXPECT_EQ(s.dims, (Dims{{"k", 7}, {"n", 281}}));
  EXPECT_EQ(s.batches, (std::vector<std::int64_t>{8, 1}));
}

TEST(MakeSelection, LeavesAccuracyOutWhereOnlyRelationsAreNamed) {
  EXPECT_FALSE(make_selection({.relations = {"alone"}}).accuracy);
}

TEST(MakeSelection, CallsEachFilterAFilter) {
  const SelectionText narrower[] = {{.ops = {"mm"}},
                                    {.dtypes = {"fp32"}},
                                    {.relations = {"alone"}},
                                    {.level = "BI-3"},
                                    {.case_pattern = "."},
                                    {.dims = "k=7"},
                                    {.batches = "8"}};
  for (const SelectionText& text : narrower) EXPECT_TRUE(make_selection(text).filtered);
}

TEST(MakeSelection, TakesANamedSuiteAlone) {
  const Selection s = make_selection({.ops = {"mm"}, .suites = {"public"}});
  EXPECT_EQ(s.suite_text(), "public");
  EXPECT_EQ(s.shapes.size(), public_reports().size());
  EXPECT_TRUE(make_selection({.suites = {"public"}}).filtered);
  EXPECT_THAT(error_of({.suites = {"pubic"}}), HasSubstr("did you mean 'public'?"));
  EXPECT_THAT(error_of({.dims = "k=7", .suites = {"public"}}), HasSubstr("--suite excludes"));
}

TEST(Takes, GoesByRelationLevelAndPattern) {
  const OpSpec& linear = *find_op("linear");
  const Variant& bias = linear.variants[1];
  const auto takes = [&](const SelectionText& text, std::string_view relation) {
    return make_selection(text).takes(linear, bias, relation, DType::kBFloat16);
  };
  EXPECT_TRUE(takes({}, "threads"));
  EXPECT_FALSE(takes({.level = "BI-2"}, "threads"));
  EXPECT_TRUE(takes({.level = "BI-2"}, "layout"));
  EXPECT_FALSE(takes({.relations = {"alone"}}, "layout"));
  EXPECT_TRUE(takes({.case_pattern = "linear-bias.*/bf16"}, "alone"));
  EXPECT_FALSE(takes({.case_pattern = "linear[.]alone"}, "alone"));
  EXPECT_FALSE(takes({.relations = {"alone"}}, "accuracy"));
  EXPECT_TRUE(takes({.level = "BI-0"}, "accuracy")) << "accuracy belongs to every level";
}

}  // namespace
}  // namespace bic
