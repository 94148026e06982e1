#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include "results_schema/error.h"
#include "suites/models/pi0/golden.h"
#include "suites/models/pi0/layers.h"
#include "suites/models/pi0/parameters.h"

namespace bic::pi0 {
namespace {

/// A full-size configuration without weights: for what reads none.
Model weightless(const char* name, at::ScalarType dtype = at::kFloat) {
  const Config config = preset(name);
  return {config, precision(config, dtype), {}};
}

double at_index(const at::Tensor& x, std::int64_t i) { return x.flatten()[i].item<double>(); }

std::int64_t count(const char* name) {
  std::int64_t elements = 0;
  for (const Parameter& p : parameters(preset(name))) elements += p.elements();
  return elements;
}

TEST(Pi0Parameters, CountsAreThoseOfTheCheckpoints) {
  EXPECT_EQ(parameters(preset("open-pi-zero")).size(), 938u);
  EXPECT_EQ(count("open-pi-zero"), 3'549'565'687);
  EXPECT_EQ(count("open-pi-zero-fractal"), 3'549'565'687 + 1024);
  // The files have one more, an output head of the action expert that nobody reads.
  EXPECT_EQ(parameters(preset("openpi")).size() + 1, 777u);
  EXPECT_EQ(count("openpi"), 3'238'048'528);
  EXPECT_EQ(count("tiny"), 246'247);
  EXPECT_EQ(count("tiny-ragged"), 232'977);
  EXPECT_EQ(count("tiny-openpi"), 249'256);
}

TEST(Pi0Config, AnUnknownPresetNamesTheNearest) {
  try {
    preset("tiny-raged");
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean 'tiny-ragged'?"), std::string::npos);
  }
}

TEST(Pi0Synthetic, ValuesAreThoseStated) {
  constexpr std::uint32_t kSeed = fnv1a("embed_tokens.weight");
  EXPECT_EQ(kSeed, 3016398681u);
  EXPECT_NEAR(synthetic_value(kSeed, 0), -0.24416291760, 5e-12);
  EXPECT_NEAR(synthetic_value(kSeed, 1), -0.45945242979, 5e-12);
  EXPECT_NEAR(synthetic_value(kSeed, 2), 0.72473395057, 5e-12);
}

TEST(Pi0Synthetic, EveryDtypeRoundsTheSameFp32Value) {
  const auto made = [](at::ScalarType dtype) {
    return synthetic_tensor("embed_tokens.weight", {1000}, 0.7, 0.1, dtype);
  };
  const at::Tensor fp32 = made(at::kFloat);
  for (const std::int64_t i : {0, 1, 500, 999}) {
    const double u = synthetic_value(fnv1a("embed_tokens.weight"), i);
    EXPECT_EQ(at_index(fp32, i), static_cast<float>(0.1 + 0.7 * u)) << i;
  }
  EXPECT_TRUE(at::equal(made(at::kDouble), fp32.to(at::kDouble)));
  EXPECT_TRUE(at::equal(made(at::kBFloat16), fp32.to(at::kBFloat16)));
}

TEST(Pi0Primitives, TimeEmbeddingHasItsAnchors) {
  const Model model = weightless("open-pi-zero");
  const at::Tensor e = time_embedding(Pass(model), at::full({1}, 0.3, at::kFloat));
  EXPECT_NEAR(at_index(e, 0), 0.29552022, 1e-7);
  EXPECT_NEAR(at_index(e, 1), 0.29039654, 1e-7);
  EXPECT_NEAR(at_index(e, 255), 0.00302715, 1e-7);
  EXPECT_NEAR(at_index(e, 511), 3.0e-05, 1e-8);
  EXPECT_NEAR(at_index(e, 512), 0.95533651, 1e-7);
  EXPECT_NEAR(at_index(e, 513), 0.95690638, 1e-7);
}

TEST(Pi0Primitives, PeriodEmbeddingHasItsAnchors) {
  const Model model = weightless("openpi");
  const at::Tensor e = period_embedding(Pass(model), at::full({1}, 1.0, at::kFloat));
  EXPECT_NEAR(at_index(e, 1), -0.78321898, 1e-7);
  EXPECT_NEAR(at_index(e, 255), -0.25288567, 1e-7);
  EXPECT_NEAR(at_index(e, 511), 1.0, 1e-7);
  EXPECT_NEAR(at_index(e, 512), 1.0, 1e-7);
  EXPECT_NEAR(at_index(e, 513), -0.62174594, 1e-7);
}

TEST(Pi0Primitives, FrequenciesHaveTheirAnchorsAndAreRoundedInBf16) {
  for (const char* name : {"open-pi-zero", "openpi"}) {
    const at::Tensor fp32 = weightless(name).frequencies[0];
    const at::Tensor bf16 = weightless(name, at::kBFloat16).frequencies[0];
    EXPECT_EQ(bf16.scalar_type(), at::kFloat);
    const struct {
      std::int64_t index;
      double wide, narrow;
    } anchors[] = {{1, 0.93057203, 0.9296875},
                   {2, 0.86596435, 0.8671875},
                   {64, 0.01, 0.010009766},
                   {127, 1.0746078e-4, 1.0728836e-4}};
    for (const auto& a : anchors) {
      EXPECT_NEAR(at_index(fp32, a.index), a.wide, 2e-7 * a.wide) << a.index;
      EXPECT_NEAR(at_index(bf16, a.index), a.narrow, 2e-7 * a.narrow) << a.index;
    }
  }
}

TEST(Pi0Primitives, Bf16TimeIndicesAreRounded) {
  const Model model = weightless("open-pi-zero", at::kBFloat16);
  const at::Tensor e = time_embedding(Pass(model), at::full({1}, 0.5, at::kBFloat16));
  EXPECT_EQ(e.scalar_type(), at::kBFloat16);
  EXPECT_EQ(at_index(e, 256), at_index(e, 257));  // 257 has no bf16
  const Model fp32 = weightless("open-pi-zero");
  const at::Tensor wide = time_embedding(Pass(fp32), at::full({1}, 0.5, at::kFloat));
  EXPECT_NE(at_index(wide, 256), at_index(wide, 257));
}

/// A gated MLP that is its activation: gate, up and down are 1 x 1 ones, and up sees a one.
TEST(Pi0Primitives, GeluIsTheTanhApproximation) {
  const at::Tensor one = at::full({1, 1}, 1.0, at::kFloat);
  Config config = preset("tiny");
  const auto activated = [&](double x) {
    const Model model{
        config,
        precision(config, at::kFloat),
        {{"gate_proj.weight", one * x}, {"up_proj.weight", one}, {"down_proj.weight", one}}};
    return at_index(gated_mlp(Pass(model), "", at::full({1, 1, 1}, 1.0, at::kFloat)), 0);
  };
  EXPECT_NEAR(activated(-1), -0.15880799, 1e-7);
  EXPECT_NEAR(activated(0.5), 0.34571400, 1e-7);
  EXPECT_NEAR(activated(2), 1.9545977, 2e-7);
  config.gelu = "none";
  EXPECT_NEAR(activated(-1), -0.15865529, 1e-7);
}

TEST(Pi0Primitives, LayerNormAddsOneMillionthToTheVariance) {
  const Config config = preset("tiny");
  const at::Tensor one = at::full({2}, 1.0, at::kFloat);
  const Model model{
      config, precision(config, at::kFloat), {{"n.weight", one}, {"n.bias", one * 0}}};
  // Mean 0 and variance 1e-6: ATen's default of 1e-5 would give 0.3015.
  const at::Tensor x = at::full({1, 1, 2}, 1e-3, at::kFloat);
  x.select(2, 1).fill_(-1e-3);
  EXPECT_NEAR(at_index(layer_norm(Pass(model), "n", x), 0), 0.70710678, 1e-6);
}

/// In how many elements `bf16` is not `wide`, rounded once.
std::int64_t not_rounded_once(const at::Tensor& bf16, const at::Tensor& wide) {
  return at::ne(bf16, wide.to(at::kBFloat16)).sum().item<std::int64_t>();
}

TEST(Pi0Primitives, NormsAndSoftmaxAreRoundedOnceInBf16) {
  const Config config = preset("tiny");
  const at::Tensor x = synthetic_tensor("x", {8, 16, 64}, 3, 0.1, at::kBFloat16);
  const at::Tensor w = synthetic_tensor("w", {64}, 0.2, 0, at::kBFloat16);
  const auto model = [&](at::ScalarType inside) {
    Precision p = precision(config, at::kBFloat16);
    p.norm = inside;
    return Model(config, p, {{"n.weight", w}});
  };
  const Model right = model(at::kFloat), wrong = model(at::kBFloat16);
  const at::Tensor d = x.to(at::kDouble);
  const at::Tensor norm = d * at::rsqrt((d * d).mean({-1}, true) + 1e-6) * (w.to(at::kDouble) + 1);
  // fp32's own rounding may tip a few of the 8192 elements.
  EXPECT_LE(not_rounded_once(rms_norm(Pass(right), "n", x), norm), 8);
  EXPECT_GE(not_rounded_once(rms_norm(Pass(wrong), "n", x), norm), 1000);
  EXPECT_LE(not_rounded_once(softmax(Pass(right), x, at::kBFloat16), at::softmax(d, -1)), 8);
}

}  // namespace
}  // namespace bic::pi0
