#include "suites/models/pi0/golden.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/max.h>
#include <gmock/gmock.h>

namespace bic::pi0 {
namespace {

using testing::IsEmpty;

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

/// The same model without any rounding but that of its weights and constants.
Model widened(Model model) {
  const Precision wide = in_double(model.precision);
  return {std::move(model.config), wide, std::move(model.weights)};
}

TEST(Pi0Golden, TinyGivesWhatThePublicCodeGave) {
  const GoldenRun run = run_open_pi_zero(synthetic_model("tiny"));
  EXPECT_THAT(off_golden(run, golden_tiny()), IsEmpty());
  EXPECT_THAT(off_golden_action(run.action), IsEmpty());
}

TEST(Pi0Golden, TinyOpenPiGivesWhatThePublicCodeGave) {
  EXPECT_THAT(off_golden(run_openpi(synthetic_model("tiny-openpi")), golden_tiny_openpi()),
              IsEmpty());
}

TEST(Pi0Golden, DoubleGivesWhatThePublicCodeGave) {
  const GoldenRun run = run_open_pi_zero(widened(synthetic_model("tiny")));
  EXPECT_THAT(off_golden(run, golden_tiny()), IsEmpty());
  EXPECT_THAT(off_golden_action(run.action), IsEmpty());
  EXPECT_THAT(off_golden(run_openpi(widened(synthetic_model("tiny-openpi"))), golden_tiny_openpi()),
              IsEmpty());
}

class Pi0OpenPiZero : public testing::TestWithParam<const char*> {};

TEST_P(Pi0OpenPiZero, Fp32IsWithinItsRoundingOfDouble) {
  const Model model = synthetic_model(GetParam());
  const Model wide = widened(model);
  EXPECT_LT(distance(run_open_pi_zero(model).action, run_open_pi_zero(wide).action), 1e-6);
}

TEST_P(Pi0OpenPiZero, Bf16IsWithinItsRoundingOfFp32) {
  const at::Tensor action =
      run_open_pi_zero(synthetic_model(GetParam(), at::kBFloat16), at::kBFloat16).action;
  EXPECT_EQ(action.scalar_type(), at::kBFloat16);
  const double off = distance(action, run_open_pi_zero(synthetic_model(GetParam())).action);
  EXPECT_GT(off, 0);
  EXPECT_LT(off, 2e-2);
}

TEST_P(Pi0OpenPiZero, RecomputingThePrefixGivesTheSameAction) {
  const Model model = synthetic_model(GetParam());
  const Inputs inputs = synthetic_inputs(model.config, 2, at::kFloat);
  const at::Tensor cached = open_pi_zero(Pass(model), inputs);
  EXPECT_LT(distance(cached, open_pi_zero(Pass(model), inputs, Prefix::kRecomputed)), 1e-6);
}

TEST_P(Pi0OpenPiZero, ATraceChangesNothing) {
  const Model model = synthetic_model(GetParam());
  const Inputs inputs = synthetic_inputs(model.config, 2, at::kFloat);
  EXPECT_TRUE(at::equal(open_pi_zero(Pass(model), inputs), run_open_pi_zero(model).action));
}

INSTANTIATE_TEST_SUITE_P(Presets,
                         Pi0OpenPiZero,
                         testing::Values("tiny", "tiny-ragged"),
                         [](const auto& tested) {
                           return std::string(tested.param) == "tiny" ? "tiny" : "tiny_ragged";
                         });

TEST(Pi0OpenPi, RecomputingThePrefixGivesTheSameAction) {
  const Model model = synthetic_model("tiny-openpi");
  const OpenPiInputs inputs = synthetic_openpi_inputs(model.config, 2);
  const at::Tensor cached = openpi(Pass(model), inputs);
  EXPECT_LT(distance(cached, openpi(Pass(model), inputs, Prefix::kRecomputed)), 1e-6);
}

TEST(Pi0OpenPi, FusedVisionAttentionGivesTheSameAction) {
  Model model = synthetic_model("tiny-openpi");
  const at::Tensor parts = run_openpi(model).action;
  model.config.vision.fused_attention = true;
  EXPECT_LT(distance(parts, run_openpi(model).action), 2e-6);
}

TEST(Pi0OpenPi, MixedPrecisionIsWithinItsRoundingOfFp32) {
  const at::Tensor mixed = run_openpi(synthetic_model("tiny-openpi", at::kBFloat16)).action;
  EXPECT_EQ(mixed.scalar_type(), at::kFloat);
  const double off = distance(mixed, run_openpi(synthetic_model("tiny-openpi")).action);
  EXPECT_GT(off, 0);
  EXPECT_LT(off, 5e-2);
}

}  // namespace
}  // namespace bic::pi0
