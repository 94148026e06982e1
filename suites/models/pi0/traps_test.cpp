#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/max.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "suites/models/pi0/golden.h"
#include "suites/models/pi0/parameters.h"

namespace bic::pi0 {
namespace {

/// What implementers of this model have tripped over, and the test that would notice.
const struct {
  int number;
  const char* trap;
  const char* test;
} kTraps[] = {
    {1, "mask by the lowest finite value", "Pi0Traps.RowsOfPaddingAreUniform"},
    {2, "soft cap in open-pi-zero only", "Pi0Traps.OnlyOpenPiZeroCapsItsLogits"},
    {3,
     "root of the width: tensor or scalar",
     "Pi0Traps.TheRootOfTheWidthIsRoundedInOpenPiZeroOnly"},
    {4, "bf16 frequencies", "Pi0Primitives.FrequenciesHaveTheirAnchorsAndAreRoundedInBf16"},
    {5, "dtype of the time", "Pi0Traps.TimeIsInTheModelsDtype"},
    {6, "orders of concatenation", "Pi0Mistakes.AreSeenInTheAction"},
    {7, "positions", "Pi0Mistakes.AreSeenInTheAction"},
    {8, "truncated last layer", "Pi0Traps.TheLastPrefillLayerEndsWithItsAttention"},
    {9, "final norms", "Pi0Mistakes.AreSeenInTheAction"},
    {10, "the clip hides differences", "Pi0Traps.TheActionIsNotClipped"},
    {11, "GELU", "Pi0Primitives.GeluIsTheTanhApproximation"},
    {11, "eps of LayerNorm", "Pi0Primitives.LayerNormAddsOneMillionthToTheVariance"},
    {12, "what the cache holds", "Pi0Traps.TheCacheHoldsOneHeadOfTurnedKeys"},
    {13, "aliases of recorded tensors", "Pi0Traps.RecordedTensorsAndInputsKeepTheirValues"},
    {14, "mm or bmm", "Pi0Traps.OperatorsReachedAreThoseCounted"},
    {15, "tied embedding, prefixes, unused head", "Pi0Checkpoint.OpenPiFilesMayTieTheEmbedding"},
    {16, "bases and sizes of published files", "Pi0Traps.PublishedConstantsAreTheDefault"},
};

std::set<std::string> all_tests() {
  std::set<std::string> names;
  const auto* unit = testing::UnitTest::GetInstance();
  for (int s = 0; s < unit->total_test_suite_count(); ++s) {
    const auto* suite = unit->GetTestSuite(s);
    for (int t = 0; t < suite->total_test_count(); ++t) {
      names.insert(std::string(suite->name()) + "." + suite->GetTestInfo(t)->name());
    }
  }
  return names;
}

TEST(Pi0Traps, EachHasATest) {
  const auto tests = all_tests();
  std::set<int> numbers;
  for (const auto& t : kTraps) {
    numbers.insert(t.number);
    EXPECT_TRUE(tests.contains(t.test)) << t.number << " " << t.trap << ": no test " << t.test;
  }
  EXPECT_EQ(numbers.size(), 16u);
}

double at_index(const at::Tensor& x, std::int64_t i) { return x.flatten()[i].item<double>(); }
double largest(const at::Tensor& x) { return at::max(at::abs(x)).item<double>(); }

std::string joint(const std::string& name) { return "step_0.action_joint_model." + name; }

TEST(Pi0Traps, RowsOfPaddingAreUniform) {
  // tiny: sample 0 has 16 + 3 valid tokens of 22, and proprio is a key too.
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const GoldenRun run = run_open_pi_zero(synthetic_model("tiny", dtype), dtype);
    const at::Tensor p =
        run.recorder.get("prefill", joint("layer_1.pre_attn.attn_weights_softmax"))[0][0];
    const at::Tensor uniform = at::full({23}, 1.0 / 23, at::kFloat).to(dtype);
    EXPECT_TRUE(at::equal(p[19], uniform));
    EXPECT_EQ(largest(p[18].slice(0, 19)), 0);
  }
  // tiny-openpi: sample 0 has 48 + 5 valid tokens of 56.
  const GoldenRun run = run_openpi(synthetic_model("tiny-openpi", at::kBFloat16));
  const at::Tensor p = run.recorder.get("prefill", "vlm.layer_1.attn_weights_softmax")[0][0];
  EXPECT_TRUE(at::equal(p[53], at::full({56}, 1.0 / 56, at::kFloat).to(at::kBFloat16)));
}

TEST(Pi0Traps, OnlyOpenPiZeroCapsItsLogits) {
  const auto amplified = [](Model model) {
    for (auto& [name, w] : model.weights) {
      if (name.ends_with("q_proj.weight")) w = w * 64;
    }
    return model;
  };
  const GoldenRun capped = run_open_pi_zero(amplified(synthetic_model("tiny")));
  const double highest =
      largest(capped.recorder.get("prefill", joint("layer_0.pre_attn.attn_weights")));
  EXPECT_LE(highest, 50);
  EXPECT_GT(highest, 40);
  const GoldenRun free = run_openpi(amplified(synthetic_model("tiny-openpi")));
  EXPECT_GT(largest(free.recorder.get("prefill", "vlm.layer_0.attn_weights")), 50);
}

TEST(Pi0Traps, TheRootOfTheWidthIsRoundedInOpenPiZeroOnly) {
  // A width of 60, whose root 7.746 is 7.75 in bf16.
  const GoldenRun run =
      run_open_pi_zero(synthetic_model("tiny-ragged", at::kBFloat16), at::kBFloat16);
  const at::Tensor before = run.recorder.get("embedding", "inputs_embeds").to(at::kFloat);
  const at::Tensor after = run.recorder.get("prefill", joint("normalization.vlm"));
  EXPECT_TRUE(at::equal(after, (before * 7.75).to(at::kBFloat16)));

  Config config = preset("tiny-openpi");
  config.experts[0].width = 60;
  const Model model(
      config, precision(config, at::kBFloat16), synthetic_weights(config, at::kBFloat16));
  const at::Tensor prefix = run_openpi(model).recorder.get("embedding", "prefix_embeds");
  const at::Tensor id = synthetic_openpi_inputs(config, 2).input_ids[0][0];
  const at::Tensor row =
      model.weights.at(config.names.embedding + ".weight")[id.item<std::int64_t>()];
  EXPECT_TRUE(at::equal(prefix[0][48], (row.to(at::kFloat) * std::sqrt(60.0f)).to(at::kBFloat16)));
}

TEST(Pi0Traps, TimeIsInTheModelsDtype) {
  const GoldenRun bf16 = run_open_pi_zero(synthetic_model("tiny", at::kBFloat16), at::kBFloat16);
  const GoldenRun fp32 = run_open_pi_zero(synthetic_model("tiny"));
  const double bf16_times[] = {0,
                               0.10009765625,
                               0.2001953125,
                               0.30078125,
                               0.400390625,
                               0.5,
                               0.6015625,
                               0.703125,
                               0.8046875,
                               0.90625};
  float t = 0;
  for (int s = 0; s < 10; ++s, t += 0.1f) {
    const std::string section = fmt::format("flow_step_{}", s);
    const std::string name = fmt::format("step_{}.time_cond", s);
    EXPECT_EQ(at_index(bf16.recorder.get(section, name), 0),
              static_cast<double>(c10::BFloat16(std::sin(static_cast<float>(bf16_times[s])))));
    EXPECT_NEAR(at_index(fp32.recorder.get(section, name), 0), std::sin(t), 1e-7);
  }
  EXPECT_EQ(bf16.action.scalar_type(), at::kBFloat16);
  EXPECT_EQ(run_openpi(synthetic_model("tiny-openpi", at::kBFloat16)).action.scalar_type(),
            at::kFloat);
}

TEST(Pi0Traps, TheLastPrefillLayerEndsWithItsAttention) {
  const GoldenRun run = run_open_pi_zero(synthetic_model("tiny"));
  EXPECT_NO_THROW(run.recorder.get("prefill", "prefill_kv_caches.vlm.keys[2]"));
  EXPECT_NO_THROW(run.recorder.get("prefill", joint("layer_2.pre_attn.attn_outputs.vlm")));
  EXPECT_NO_THROW(run.recorder.get("flow_step_0", joint("layer_2.final.action")));
  for (const Snapshot& s : run.recorder.snapshots()) {
    const bool beyond =
        s.section == "prefill" && (s.name.find("layer_2.post_attn") != std::string::npos ||
                                   s.name.find("forward_norm") != std::string::npos);
    EXPECT_FALSE(beyond) << s.name;
  }
}

TEST(Pi0Traps, TheActionIsNotClipped) {
  const GoldenRun run = run_open_pi_zero(synthetic_model("tiny"));
  EXPECT_GT(largest(run.action), 1.1);
  EXPECT_EQ(largest(run.recorder.get("flow_step_9", "final_action")), 1);
}

TEST(Pi0Traps, TheCacheHoldsOneHeadOfTurnedKeys) {
  const GoldenRun run = run_open_pi_zero(synthetic_model("tiny"));
  const at::Tensor keys = run.recorder.get("prefill", "prefill_kv_caches.vlm.keys[1]");
  EXPECT_THAT(keys.sizes().vec(), testing::ElementsAre(2, 1, 22, 16));
  EXPECT_TRUE(at::equal(keys, run.recorder.get("prefill", joint("layer_1.pre_attn.new_kv.vlm"))));
}

TEST(Pi0Traps, RecordedTensorsAndInputsKeepTheirValues) {
  const Model model = synthetic_model("tiny");
  const Inputs in = synthetic_inputs(model.config, 2, at::kFloat);
  Recorder recorder;
  open_pi_zero(Pass(model, &recorder), in);
  const Inputs again = synthetic_inputs(model.config, 2, at::kFloat);
  EXPECT_TRUE(at::equal(in.noise, again.noise));
  EXPECT_TRUE(at::equal(recorder.get("prefill", "initial_action"), again.noise));
  const at::Tensor before = recorder.get("embedding", "inputs_embeds");
  const at::Tensor after = recorder.get("prefill", joint("normalization.vlm"));
  EXPECT_TRUE(at::equal(after, before * 8));
  EXPECT_FALSE(at::equal(after, before));
}

TEST(Pi0Traps, PublishedConstantsAreTheDefault) {
  for (const char* name : {"open-pi-zero", "open-pi-zero-fractal"}) {
    const Config c = preset(name);
    EXPECT_EQ(c.time_max_period, 10000);
    for (const Expert& e : c.experts) EXPECT_EQ(e.rope_base, 10000);
  }
  EXPECT_EQ(preset("open-pi-zero-fractal").state_dim, 8);
  EXPECT_EQ(preset("open-pi-zero").state_dim, 7);
}

/// Calls of each operator, leaves and composites alike.
std::map<std::string, int> counted(const std::function<void()>& call) {
  static std::map<std::string, int> counts;
  counts.clear();
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction& f) -> std::unique_ptr<at::ObserverContext> {
        ++counts[f.name()];
        return nullptr;
      }));
  call();
  at::removeCallback(handle);
  return counts;
}

TEST(Pi0Traps, OperatorsReachedAreThoseCounted) {
  const Model model = synthetic_model("tiny");
  for (const std::int64_t batch : {1, 2, 5}) {
    const Inputs in = synthetic_inputs(model.config, batch, at::kFloat);
    auto calls = counted([&] { open_pi_zero(Pass(model), in); });
    // Of the sizes in tests: 2 vision and 3 decoder layers, 2 prefilled experts, 10 steps. The
    // slices that o_proj of the prefill gets do not fold: 4 bmm instead of mm.
    const std::map<std::string, int> expected{{"aten::addmm", 12 + 1 + 1 + 30 + 10},
                                              {"aten::mm", 18 + 12 + 120 + 90},
                                              {"aten::bmm", 4 + 36 + 66 + 4},
                                              {"aten::_softmax", 35},
                                              {"aten::native_layer_norm", 5},
                                              {"aten::mean", 80},
                                              {"aten::gelu", 36},
                                              {"aten::tanh", 33},
                                              {"aten::silu", 10},
                                              {"aten::sin", 46},
                                              {"aten::cos", 46},
                                              {"aten::exp", 10},
                                              {"aten::cat", 18 + 90 + 99 + 20},
                                              {"aten::convolution", 1},
                                              {"aten::_log_softmax", 0}};
    for (const auto& [op, times] : expected) EXPECT_EQ(calls[op], times) << op << " B=" << batch;
  }
}

}  // namespace
}  // namespace bic::pi0
