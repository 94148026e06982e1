#include "adapters/plugin/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "results_schema/error.h"

namespace bic::plugin {
namespace {

using protocol::Outcome;
using protocol::TrialMessage;
using protocol::TrialReply;
using testing::ElementsAre;
using testing::HasSubstr;

/// mul of two samples of three floats, 1 2 3 and 4 5 6, by themselves' doubles.
class MulBackend : public testing::Test {
 protected:
  explicit MulBackend(const std::string& path = BIC_PLUGINS "/mul.so")
      : backend_("plugin:mul", path, nullptr) {
    problem_ = {.op = "mul", .dims = {{"h", 3}}, .output = {"y", {"B", "h"}, "fp32"}};
    problem_.calls = {{"functional", "(y) = aten::mul.Tensor(x, o)"},
                      {"out", "(y) = aten::mul.out(x, o, out=y)"},
                      {"inplace", "(y) = aten::mul_.Tensor(x, o)"}};
    problem_.inputs = {{"x", {"B", "h"}, "fp32", 0, 12}, {"o", {"B", "h"}, "fp32", 24, 12}};
    backend_.load(problem_, std::as_bytes(std::span(pool_)));
  }

  TrialReply run(Form form, int offset = 0) {
    TrialMessage trial{.slots = {1, 0}, .trial = {}};
    trial.trial.batch = 2;
    trial.trial.form = form;
    trial.trial.offset = offset;
    output_.assign(64, -1);
    return backend_.run(trial, std::as_writable_bytes(std::span(output_)));
  }

  const std::vector<float> pool_{1, 2, 3, 4, 5, 6, 2, 4, 6, 8, 10, 12};
  protocol::ProblemMessage problem_;
  PluginBackend backend_;
  std::vector<float> output_;
};

TEST_F(MulBackend, ComputesTheSamplesOfTheTrialInEachForm) {
  for (const Form form : {Form::kFunctional, Form::kOut, Form::kInplace}) {
    const TrialReply reply = run(form, 3);
    EXPECT_EQ(reply.outcome, Outcome::kRan) << reply.message;
    EXPECT_EQ(reply.dtype, "fp32");
    EXPECT_THAT(reply.shape, ElementsAre(2, 3));
    EXPECT_THAT(std::span(output_).first(6), ElementsAre(32, 50, 72, 2, 8, 18)) << name(form);
    EXPECT_EQ(output_[6], -1);
    EXPECT_EQ(reply.unwritten, 0);
    EXPECT_FALSE(reply.input_changed);
    EXPECT_FALSE(reply.out_of_bounds);
  }
}

TEST_F(MulBackend, BearsWitnessToWhatItGave) {
  const TrialReply first = run(Form::kFunctional), second = run(Form::kInplace, 3);
  EXPECT_THAT(first.witness.address_mod_64, ElementsAre(0, 0));
  EXPECT_THAT(second.witness.address_mod_64, ElementsAre(12, 12));
  EXPECT_THAT(second.witness.strides, ElementsAre(ElementsAre(3, 1), ElementsAre(3, 1)));
  EXPECT_FALSE(first.witness.gave_output);
  EXPECT_TRUE(second.witness.gave_output);
  EXPECT_EQ(second.witness.form, "inplace");
  EXPECT_EQ(second.witness.calls, first.witness.calls + 1);
  EXPECT_THAT(second.witness.reached, ElementsAre("plugin::mul"));
  EXPECT_EQ(second.witness.largest_team, 1);
}

TEST_F(MulBackend, WritesInPlaceToTheArgumentThatItsTextNamesFirst) {
  problem_.calls["inplace"] = "(y) = aten::mul_.Tensor(o, x)";
  backend_.load(problem_, std::as_bytes(std::span(pool_)));
  EXPECT_FALSE(run(Form::kInplace).input_changed) << "o is the output, which may change";
  problem_.calls["inplace"] = "(y) = aten::mul_.Tensor(z, x)";
  backend_.load(problem_, std::as_bytes(std::span(pool_)));
  EXPECT_THROW(run(Form::kInplace), HarnessError);
}

TEST_F(MulBackend, TimesCallsAndLeavesTheLastOnesOutput) {
  protocol::TimeMessage request{.calls = 3, .copies = 2};
  request.trial.slots = {0};
  request.trial.trial.batch = 1;
  output_.assign(64, -1);
  const auto reply = backend_.time(request, std::as_writable_bytes(std::span(output_)));
  EXPECT_EQ(reply.outcome, Outcome::kRan);
  EXPECT_GT(reply.nanoseconds, 0);
  EXPECT_THAT(std::span(output_).first(4), ElementsAre(2, 8, 18, -1));
}

class MulBackendWithoutInplace : public MulBackend {
 protected:
  MulBackendWithoutInplace() : MulBackend(BIC_PLUGINS "/mul_without_inplace.so") {}
};

TEST_F(MulBackendWithoutInplace, RunsNoFormThatItDoesNotClaim) {
  EXPECT_THAT(backend_.hello().manifest[0].lacks,
              ElementsAre(Form::kChunk, Form::kVector, Form::kInplace));
  const TrialReply reply = run(Form::kInplace);
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_EQ(reply.message, "form 'inplace' is not claimed");
  EXPECT_EQ(output_[0], -1);
}

TEST(Dtypes, HaveTheirNamesOrTheirNumbers) {
  for (const char* name : {"fp32", "bf16", "fp16", "fp64", "int64", "bool"}) {
    EXPECT_EQ(dtype_name(dtype_of(name)), name);
  }
  EXPECT_EQ(dtype_name({BIC_FLOAT, 8, 1}), "{2, 8, 1}");
  EXPECT_THROW(dtype_of("fp8"), HarnessError);
}

}  // namespace
}  // namespace bic::plugin
