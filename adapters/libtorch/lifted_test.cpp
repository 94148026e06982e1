#include "adapters/libtorch/lifted.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "results_schema/error.h"

namespace bic::libtorch {
namespace {

using protocol::ManifestEntry;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string plugin_named(const std::string& name) { return BIC_PLUGINS "/" + name + ".so"; }

const Variant& variant_of(const OpSpec& op, const std::string& name) {
  return *std::ranges::find(op.variants, name, &Variant::name);
}

LiftedCall lifted_call(const char* op, const std::string& variant, Form form = Form::kFunctional) {
  const OpSpec& spec = *find_op(op);
  auto call = LiftedCall::of(spec, variant_of(spec, variant), form);
  EXPECT_TRUE(call) << op << '-' << variant;
  return std::move(*call);
}

const ManifestEntry* find(const std::vector<ManifestEntry>& all, const std::string& op) {
  const auto at = std::ranges::find(all, op, &ManifestEntry::op);
  return at == all.end() ? nullptr : &*at;
}

TEST(LiftedCall, IsOneCallOfOneOverloadWhoseInputsSayTheOutputsShape) {
  EXPECT_EQ(c10::toString(lifted_call("addmm", "", Form::kOut).overload().operator_name()),
            "aten::addmm.out");
  const auto none = [](const char* op, const std::string& variant, Form form) {
    return !LiftedCall::of(*find_op(op), variant_of(*find_op(op), variant), form);
  };
  EXPECT_TRUE(none("mv", "columns", Form::kFunctional)) << "two steps";
  EXPECT_TRUE(none("conv2d", "", Form::kFunctional)) << "an extent that no input has";
  EXPECT_TRUE(none("cat", "", Form::kFunctional)) << "a list of tensors";
  EXPECT_TRUE(none("mm", "", Form::kInplace)) << "no such form";
}

TEST(LiftedCall, IsToldFromTheOtherVariantsByRankOptionsAndType) {
  const at::Tensor x = at::ones({2, 3}), w = at::ones({3, 4}), row = at::ones({4});
  const std::vector<c10::IValue> plain{row, x, w, 1, 1}, scaled{row, x, w, 0.5, 2};
  const LiftedCall bias = lifted_call("addmm", ""), matrix = lifted_call("addmm", "matrix");
  const auto bound = bias.bind(plain, DType::kFloat32);
  ASSERT_TRUE(bound);
  EXPECT_TRUE(bound->inputs[0].is_same(x)) << "in the order of the variant, not of the call";
  EXPECT_TRUE(bound->inputs[2].is_same(row));
  EXPECT_THAT(bound->output_shape, ElementsAre(2, 4));
  EXPECT_FALSE(bias.bind(scaled, DType::kFloat32));
  EXPECT_FALSE(matrix.bind(plain, DType::kFloat32));
  EXPECT_FALSE(bias.bind(plain, DType::kFloat64));
  const auto factors = lifted_call("addmm", "scaledbias").bind(scaled, DType::kFloat32);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->attributes.at("beta"), "0x1p-1");
  EXPECT_EQ(factors->attributes.at("alpha"), "2");
}

TEST(LiftedCall, TakesNoOtherExtentsOptionsOrEmptyTensors) {
  const LiftedCall mm = lifted_call("mm", ""), gelu = lifted_call("gelu", "tanh");
  const at::Tensor x = at::ones({2, 3});
  const auto binds = [](const LiftedCall& call, std::vector<c10::IValue> arguments) {
    return call.bind(arguments, DType::kFloat32).has_value();
  };
  EXPECT_TRUE(binds(mm, {x, at::ones({3, 4})}));
  EXPECT_FALSE(binds(mm, {x, at::ones({4, 3})}));
  EXPECT_FALSE(binds(mm, {x, at::ones({3})}));
  EXPECT_FALSE(binds(mm, {at::ones({0, 3}), at::ones({3, 4})}));
  EXPECT_TRUE(binds(gelu, {x, "tanh"}));
  EXPECT_FALSE(binds(gelu, {x, "none"}));
  const LiftedCall sum = lifted_call("sum", "");
  EXPECT_TRUE(binds(sum, {x, std::vector<std::int64_t>{1}, false, c10::IValue()}));
  EXPECT_FALSE(binds(sum, {x, std::vector<std::int64_t>{1}, true, c10::IValue()}));
  EXPECT_FALSE(binds(sum, {x, std::vector<std::int64_t>{0}, false, c10::IValue()}));
}

TEST(LiftedCall, WritesToAGivenOutputOfItsShapeOrWithoutElements) {
  const LiftedCall mm = lifted_call("mm", "", Form::kOut);
  const at::Tensor x = at::ones({2, 3}), w = at::ones({3, 4}), empty = at::empty({0});
  const auto bind = [&](const at::Tensor& y) {
    return mm.bind(std::vector<c10::IValue>{x, w, y}, DType::kFloat32);
  };
  EXPECT_TRUE(bind(at::empty({2, 4})));
  EXPECT_TRUE(bind(empty));
  EXPECT_THAT(empty.sizes(), ElementsAre(2, 4));
  EXPECT_FALSE(bind(at::empty({4, 2}))) << "stock resizes it";
  EXPECT_FALSE(bind(at::empty({2, 4}, at::kDouble)));
}

TEST(Lift, ServesATensCallsInTheClaimedTypeUntilItEnds) {
  const c10::InferenceMode inference;
  const at::Tensor a = at::rand({5, 7}), b = at::rand({7, 3});
  const at::Tensor stock = at::mm(a, b);
  {
    Lift lift(plugin_named("mm"));
    EXPECT_THAT(lift.overloads(), UnorderedElementsAre("aten::mm", "aten::mm.out"));
    EXPECT_TRUE(at::allclose(at::mm(a, b), stock));
    EXPECT_THAT(lift.reached(), ElementsAre("plugin::mm"));
    EXPECT_EQ(lift.team(0), 1);
    at::Tensor given = at::empty({3, 5}).t();
    EXPECT_TRUE(at::mm_out(given, a, b).is_same(given));
    EXPECT_TRUE(at::allclose(given, stock));
    lift.forget();
    at::mm(a.to(at::kDouble), b.to(at::kDouble));
    EXPECT_THAT(lift.reached(), IsEmpty()) << "not claimed: stock's";
    at::linear(a, b.t());
    at::matmul(a, b);
    EXPECT_THAT(lift.reached(), ElementsAre("plugin::mm")) << "what is made of mm reaches it";
    at::Tensor square = at::rand({4, 4});
    EXPECT_THROW(at::mm_out(square, square, square), c10::Error) << "as stock refuses it";
  }
  EXPECT_TRUE(at::equal(at::mm(a, b), stock));
}

TEST(Lift, MakesADeclinedCallAnErrorAndNeverStocks) {
  const c10::InferenceMode inference;
  const Lift lift(plugin_named("declines"));
  EXPECT_NO_THROW(at::mm(at::ones({32, 4}), at::ones({4, 2})));
  try {
    at::mm(at::ones({33, 4}), at::ones({4, 2}));
    FAIL();
  } catch (const c10::NotImplementedError& e) {
    EXPECT_THAT(e.what(), HasSubstr("not today"));
  }
}

TEST(Lift, RefusesAPluginThatHasNothingToLift) {
  EXPECT_THROW(Lift("/nowhere.so"), std::runtime_error);
}

TEST(Lifted, OwnsWhatAlwaysReachesThePlugin) {
  const Subject subject = lifted("plugin:products", plugin_named("products"));
  const ManifestEntry *addmm = find(subject.manifest, "addmm"),
                      *linear = find(subject.manifest, "linear");
  ASSERT_NE(addmm, nullptr);
  EXPECT_THAT(addmm->own, ElementsAre("plugin::addmm"));
  EXPECT_THAT(addmm->lacks, ElementsAre(Form::kChunk, Form::kVector));
  EXPECT_THAT(addmm->dtypes, ElementsAre(DType::kFloat32));
  ASSERT_NE(linear, nullptr);
  EXPECT_THAT(linear->own, Contains("plugin::mm"));
  EXPECT_THAT(linear->own, Contains("plugin::addmm"));
  EXPECT_EQ(find(subject.manifest, "sum"), nullptr) << "nothing of the plug-in's";
}

TEST(Lifted, SaysWhatStockServesOfAnOpThatReachesThePluginAtTimes) {
  const Subject subject = lifted("plugin:mm", plugin_named("mm"));
  EXPECT_THAT(find(subject.manifest, "mm")->own, ElementsAre("plugin::mm"));
  const ManifestEntry* const linear = find(subject.manifest, "linear");
  ASSERT_NE(linear, nullptr);
  EXPECT_THAT(linear->own, IsEmpty());
  EXPECT_THAT(linear->stock_reason, HasSubstr("plugin::mm serves"));
}

}  // namespace
}  // namespace bic::libtorch
