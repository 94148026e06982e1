// Whole models as ops of a run, with stock as their reference: the worker is started for its
// values.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "harness/judge/levels.h"
#include "harness/plan/selection.h"
#include "harness/reference/declare.h"
#include "harness/workers/backends.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Seed kSeed{0xb1c0};

class ModelSuite : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    WorkerLaunch stock = launch_of("libtorch", BIC_PROGRAM);
    stock.program = BIC_PROGRAM;
    if (find_op("pi0") == nullptr) declare_models(stock);
  }

  static std::set<std::string> ops_of(const SelectionText& text) {
    const Selection s = make_selection(text);
    std::set<std::string> ops;
    for (const Cell& cell : make_plan(s, Strength::kQuick)) ops.insert(cell.op->name);
    return ops;
  }

  static std::string error_of(const SelectionText& text) {
    try {
      make_selection(text);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "no error";
  }

  /// The problems of each variant in fp32.
  static std::map<std::string, int> presets_of(const SelectionText& text) {
    const Selection s = make_selection(text);
    std::map<std::string, int> presets;
    for (const Cell& cell : make_plan(s, Strength::kQuick)) {
      if (cell.op->name != "pi0" || cell.dtype != DType::kFloat32) continue;
      for (const ProblemPlan& p : cell.problems) ++presets[preset_name(*p.variant)];
    }
    return presets;
  }

  static Problem tiny(const char* variant, DType dtype) {
    const OpSpec& op = *find_op("pi0");
    const auto at = std::ranges::find(op.variants, variant, &Variant::name);
    return draw({&op, &*at, dtype, Law::kUniform, 0, false}, kSeed, {}, 0);
  }
};

TEST_F(ModelSuite, IsInEveryRunUnlessOtherPartsAreNamed) {
  EXPECT_TRUE(ops_of({}).contains("pi0"));
  EXPECT_TRUE(ops_of({}).contains("mm"));
  EXPECT_FALSE(ops_of({.suites = {"ops"}}).contains("pi0"));
  EXPECT_EQ(ops_of({.suites = {"pi0"}}), (std::set<std::string>{"pi0"}));
  EXPECT_TRUE(ops_of({.suites = {"public", "pi0"}}).contains("mm"));
  EXPECT_FALSE(ops_of({.suites = {"public", "pi0"}}).contains("where")) << "no report has it";
  EXPECT_FALSE(ops_of({.dims = "k=64"}).contains("pi0")) << "its sizes are not the user's";
}

TEST_F(ModelSuite, NamesItsPartsInTheOrderOfReports) {
  EXPECT_EQ(make_selection({.suites = {"public", "pi0", "public"}}).suite_text(), "pi0,public");
  EXPECT_EQ(make_selection({}).suite_text(), "");
  EXPECT_THAT(error_of({.suites = {"pi1"}}), HasSubstr("did you mean 'pi0'?"));
}

TEST_F(ModelSuite, TakesFullSizePresetsOnRequestOnly) {
  EXPECT_EQ(presets_of({}),
            (std::map<std::string, int>{{"tiny", 2}, {"tiny-openpi", 1}, {"tiny-ragged", 2}}));
  EXPECT_EQ(presets_of({.presets = {"tiny-ragged"}}),
            (std::map<std::string, int>{{"tiny-ragged", 5}}));
  EXPECT_EQ(presets_of({.suites = {"pi0"}, .presets = {"openpi", "tiny"}}),
            (std::map<std::string, int>{{"openpi", 1}, {"tiny", 5}}));
}

TEST_F(ModelSuite, RefusesPresetsOfNoModel) {
  EXPECT_THAT(error_of({.presets = {"tiny-raged"}}),
              AllOf(HasSubstr("--preset"), HasSubstr("did you mean 'tiny-ragged'?")));
  EXPECT_THAT(error_of({.suites = {"public"}, .presets = {"tiny"}}),
              AllOf(HasSubstr("'tiny'"), HasSubstr("add --suite pi0")));
}

TEST_F(ModelSuite, NeedsOneProblemOfAFullSizePreset) {
  for (const auto& [preset, level] :
       {std::pair{"openpi", Level::kRepeatable}, {"tiny", Level::kNone}}) {
    const Selection s =
        make_selection({.ops = {"pi0"}, .dtypes = {"bf16"}, .level = "BI-0", .presets = {preset}});
    const Cell cell = make_plan(s, Strength::kQuick).at(0);
    Prepared one;
    one.problem = draw(cell.problems[0], kSeed, {}, 0);
    std::vector<report::CaseResult> passed;
    for (const char* relation : {"repeat", "fresh"}) {
      one.cases.push_back({.name = "", .relation = relation});
      passed.push_back({.case_name = "", .status = Status::kPass});
    }
    Evidence evidence(cell);
    evidence.add(one, passed);
    EXPECT_EQ(evidence.row(Level::kRepeatable).level, level) << preset;
  }
}

class ModelReferenceOf : public ModelSuite,
                         public testing::WithParamInterface<std::tuple<const char*, DType>> {};

TEST_P(ModelReferenceOf, TellsSamplesApart) {
  const auto [variant, dtype] = GetParam();
  const Telling telling = find_telling(Inputs(tiny(variant, dtype)));
  EXPECT_TRUE(telling.told_apart);
  EXPECT_LT(telling.searched, 100);
  EXPECT_THAT(telling.changed, testing::SizeIs(kControlOrders.size()));
}

TEST_P(ModelReferenceOf, BoundsTheErrorByStocksOwn) {
  const auto [variant, dtype] = GetParam();
  const Problem p = tiny(variant, dtype);
  const Reference& reference = *p.op->reference;
  const auto count = static_cast<std::size_t>(p.output_elements());
  const auto elements = spread_elements(p.output_elements(), p.output_elements());
  const Inputs inputs(p);
  inputs.with_operands(inputs.sample(SampleId{3}), [&](const Operands& operands) {
    std::vector<Wide> oracle(count);
    std::vector<double> bound(count), y(count);
    reference.wide(operands, p.output_dtype(), elements, oracle);
    reference.bound(operands, p.output_dtype(), {}, elements, bound);
    double worst = 0, most = 0;
    for (const Order order :
         {Order::kSequential, Order::kReversed, Order::kHalves, Order::kLanes16}) {
      reference.control(operands, p.output_dtype(), order, elements, y);
      for (std::size_t i = 0; i < count; ++i) {
        worst = std::max(worst, std::fabs(y[i] - oracle[i].hi));
        most = std::max(most, std::fabs(oracle[i].hi));
        EXPECT_LE(std::fabs(y[i] - oracle[i].hi), bound[i]);
      }
    }
    EXPECT_GT(worst, 0) << "the oracle is no evaluation in the model's own dtype";
    const double rounding = std::ldexp(most, -precision(p.output_dtype()));
    const double claimed = dtype == DType::kFloat32 ? std::min(2 * worst, 1e-6) : 2 * worst;
    for (const double b : bound) EXPECT_LE(b, claimed + rounding);
  });
}

INSTANTIATE_TEST_SUITE_P(TinyPresets,
                         ModelReferenceOf,
                         testing::Combine(testing::Values("tiny", "tiny_ragged", "tiny_openpi"),
                                          testing::Values(DType::kFloat32, DType::kBFloat16)),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param)) + "_" +
                                  std::string(name(std::get<1>(p.param)));
                         });

}  // namespace
}  // namespace bic
