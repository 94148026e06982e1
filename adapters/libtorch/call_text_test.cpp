#include "adapters/libtorch/call_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "results_schema/error.h"

namespace bic::libtorch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CallStep only_step(std::string_view text) {
  const std::vector<CallStep> steps = parse_call(text);
  EXPECT_EQ(steps.size(), 1u);
  return steps.at(0);
}

TEST(CallText, NamesOperatorOverloadAndTargets) {
  const CallStep step = only_step("(y) = aten::mm.out(x, w, out=y)");
  EXPECT_THAT(step.targets, ElementsAre("y"));
  EXPECT_EQ(step.op, "aten::mm");
  EXPECT_EQ(step.overload, "out");
  EXPECT_THAT(step.positional, ElementsAre(CallValue{CallName{"x"}}, CallValue{CallName{"w"}}));
  ASSERT_EQ(step.named.size(), 1u);
  EXPECT_EQ(step.named[0].first, "out");
  EXPECT_EQ(step.named[0].second, CallValue{CallName{"y"}});
}

TEST(CallText, DefaultOverloadIsTheEmptyOne) {
  EXPECT_EQ(only_step("(y) = aten::mm.default(x, w)"), only_step("y = aten::mm(x, w)"));
}

TEST(CallText, TargetsMayBeSeveralOrNone) {
  EXPECT_THAT(only_step("(y, _, rstd) = aten::f(x)").targets, ElementsAre("y", "_", "rstd"));
  EXPECT_TRUE(only_step("aten::gelu_(x)").targets.empty());
}

TEST(CallText, LiteralsKeepTheirTypesAndExactValues) {
  const CallStep step = only_step(
      "y = aten::f(-1, 0x1.8p-3, 2.5e-1, True, False, None, \"tanh\", 'erf', [h, 2, []])");
  const CallValue::List list{{CallName{"h"}}, {std::int64_t{2}}, {CallValue::List{}}};
  EXPECT_THAT(step.positional,
              ElementsAre(CallValue{std::int64_t{-1}},
                          CallValue{0.1875},
                          CallValue{0.25},
                          CallValue{true},
                          CallValue{false},
                          CallValue{std::monostate{}},
                          CallValue{std::string("tanh")},
                          CallValue{std::string("erf")},
                          CallValue{list}));
}

TEST(CallText, StepsAreSeparatedBySemicolonsOrLines) {
  const auto steps = parse_call("(t) = aten::relu(x); (y) = aten::mm(t, w)\n(z) = aten::neg(y)\n");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[1].op, "aten::mm");
  EXPECT_EQ(steps[2].op, "aten::neg");
}

class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, TextOfAStepParsesToTheSameStep) {
  const CallStep step = only_step(GetParam());
  EXPECT_EQ(only_step(to_string(step)), step) << to_string(step);
}

INSTANTIATE_TEST_SUITE_P(
    Texts,
    RoundTrip,
    testing::Values("(y) = aten::mm.default(x, w)",
                    "y = aten::sum.dim_IntList(x, [1, -1], True, dtype=None)",
                    "(y, _, _) = aten::native_layer_norm(x, [h], w, b, 0x1.4f8b588e368f1p-17)",
                    "aten::gelu_(x, approximate=\"tanh\")",
                    "(y) = aten::f(1e300, -0x0p+0, inf, [[1], []])"));

class Malformed : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Malformed, IsRefusedWithThePlace) {
  try {
    parse_call(GetParam().first);
    FAIL() << "accepted: " << GetParam().first;
  } catch (const HarnessError& e) {
    EXPECT_THAT(e.what(), HasSubstr(GetParam().second));
  }
}

INSTANTIATE_TEST_SUITE_P(Texts,
                         Malformed,
                         testing::Values(std::pair{"", "expected a call"},
                                         std::pair{"y = aten::mm(x, w", "')'"},
                                         std::pair{"y = mm(x)", "':'"},
                                         std::pair{"y = aten::mm(x,)", "a value"},
                                         std::pair{"y = aten::mm(x=1, 2)", "'name=' after"},
                                         std::pair{"y = aten::mm([1, 2)", "']'"},
                                         std::pair{"y = aten::mm(\"x)", "closing quote"},
                                         std::pair{"y = aten::mm(1.2.3)", "a value"},
                                         std::pair{"y = aten::mm(x) z = aten::mm(x)", "the end"}));

TEST(Attribute, IsALiteralWhereItReadsAsOneElseAString) {
  EXPECT_EQ(parse_attribute("0x1p-10"), CallValue{std::ldexp(1.0, -10)});
  EXPECT_EQ(parse_attribute("3"), CallValue{std::int64_t{3}});
  EXPECT_EQ(parse_attribute("True"), CallValue{true});
  EXPECT_EQ(parse_attribute("None"), CallValue{std::monostate{}});
  EXPECT_EQ(parse_attribute("tanh"), CallValue{std::string("tanh")});
  EXPECT_EQ(parse_attribute("two words"), CallValue{std::string("two words")});
  EXPECT_EQ(parse_attribute("[1, 2]"),
            (CallValue{CallValue::List{{std::int64_t{1}}, {std::int64_t{2}}}}));
}

TEST(Attribute, TextOfAValueReadsAsThatValue) {
  for (const char* text : {"0x1p-10", "-0x1.8p+3", "3", "True", "None", "tanh", "[1, 2]"}) {
    EXPECT_EQ(attribute_text(parse_attribute(text)), text);
  }
}

}  // namespace
}  // namespace bic::libtorch
