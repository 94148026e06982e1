#include "suites/models/pi0/golden.h"

#include <ATen/Parallel.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/max.h>
#include <ATen/ops/sum.h>

#include <cmath>

namespace bic::pi0 {
namespace {

// The published digits are 6 behind the point; the public code is within 1.5e-7 of fp64.
constexpr double kElement = 2e-6;
constexpr double kSum = 1e-4;

void compare(
    std::vector<std::string>& off, const std::string& what, double got, double want, double tol) {
  if (std::abs(got - want) <= tol) return;
  off.push_back(fmt::format("{}: {:.9g} instead of {:.9g}", what, got, want));
}

}  // namespace

// clang-format off: a row a line
const std::vector<Golden>& golden_tiny() {
  static const char* const e = "embedding";
  static const char* const p = "prefill";
  static const std::vector<Golden> all{
      {e,
       "input_embeds.selected_image_feature.patch_embeds",
       0,
       0,
       18.24089,
       2.132138,
       0.545779,
       1.078411,
       -0.220983},
      {e,
       "inputs_embeds.selected_image_feature",
       0,
       0,
       -1.399124,
       3.633123,
       -0.558863,
       1.085346,
       -0.849133},
      {e, "inputs_embeds.image_features", 0, 0, -3.303818, 3.505332, -0.260566, 0.523249, 0.027059},
      {e, "inputs_embeds", 0, 0, -2.778200, 0.4992154, -0.032571, -0.074289, 0.000000},
      {e, "proprio_embeds", 0, 0, 0.7858298, 2.068870, 0.833554, 0.831331, 0.655322},
      {p, "prefill_kv_caches.vlm.keys[0]", 0, 0, 12.30486, 2.827283, 1.098696, 1.294362, 0.000000},
      {p,
       "prefill_kv_caches.vlm.values[0]",
       0,
       0,
       -86.98024,
       2.602861,
       -1.983044,
       -0.854583,
       0.000000},
      {p,
       "prefill_kv_caches.proprio.keys[0]",
       0,
       0,
       1.605116,
       1.848056,
       -0.567831,
       1.418241,
       0.179715},
      {p, "prefill_kv_caches.vlm.keys[2]", 0, 0, -6.685682, 2.490516, 0.014705, 0.114193, 0.576759},
      {p,
       "prefill_kv_caches.vlm.keys[2]",
       0,
       19,
       -26.37068,
       2.490516,
       0.014705,
       0.010412,
       -1.333045},
      {p,
       "prefill_kv_caches.vlm.values[2]",
       0,
       0,
       -0.6649801,
       2.491753,
       0.930024,
       0.340562,
       -0.591628},
      {p,
       "prefill_kv_caches.proprio.keys[2]",
       0,
       0,
       -7.899288,
       2.199024,
       -0.815707,
       -2.199024,
       0.128113},
      {p,
       "prefill_kv_caches.proprio.values[2]",
       0,
       0,
       7.633015,
       1.970404,
       -1.512747,
       -0.513274,
       1.462041},
      {"flow_step_0",
       "step_0.action_encoder",
       0,
       0,
       -3.174033,
       0.9169992,
       0.168111,
       0.173630,
       -0.280836},
      {"flow_step_0",
       "step_0.action_joint_model",
       0,
       0,
       -16.13615,
       2.614856,
       0.246694,
       -0.484376,
       -0.168202},
      {"flow_step_0",
       "step_0.action_decoder",
       0,
       0,
       2.195874,
       0.5240772,
       0.183911,
       0.270366,
       0.411097},
      {"flow_step_9", "step_9.time_cond", 0, 0, 17.27851, 1.0, 0.783327, 0.621610, 1.000000},
      {"flow_step_9",
       "step_9.action_joint_model",
       0,
       0,
       -12.34438,
       2.374454,
       0.437631,
       -0.281915,
       -0.103264},
      {"flow_step_9",
       "step_9.action_decoder",
       0,
       0,
       1.746939,
       0.5476207,
       0.167191,
       0.340905,
       0.424087},
  };
  return all;
}

const std::vector<Golden>& golden_tiny_openpi() {
  static const char* const p = "prefill";
  static const std::vector<Golden> all{
      {"embedding", "prefix_embeds", 0, 0, 121.5012, 3.993461, -0.921769, -0.917905, 1.844943},
      {p,
       "prefill_kv_caches.vlm.keys[0]",
       0,
       0,
       17.84211,
       3.256750,
       -0.696568,
       1.313544,
       -1.596398},
      {p,
       "prefill_kv_caches.vlm.values[0]",
       0,
       0,
       -95.78103,
       3.456262,
       -1.792053,
       -0.112950,
       -1.024180},
      {p, "prefill_kv_caches.vlm.keys[2]", 0, 0, 102.3697, 3.171147, 1.797650, -0.658947, 0.137244},
      {p,
       "prefill_kv_caches.vlm.values[2]",
       0,
       0,
       112.9584,
       2.786932,
       0.405775,
       1.392000,
       0.685047},
      {"flow_step_0",
       "step_0.action_decoder",
       0,
       0,
       8.410933,
       0.7330707,
       0.004690,
       0.037974,
       0.338214},
      {"flow_step_9",
       "step_9.action_decoder",
       0,
       0,
       7.800659,
       0.6576989,
       0.201928,
       0.013857,
       0.361536},
      {"flow_step_9", "final_action", 0, 0, -2.027490, 1.342650, -0.080783, -0.478627, 0.615641},
      {"flow_step_9", "final_action", 1, 0, 1.986753, 1.458157, 0.518077, -0.056107, -0.676014},
  };
  return all;
}
// clang-format on

const std::vector<double>& golden_tiny_action() {
  static const std::vector<double> all{
      0.248626, -0.742323, -0.451703, -0.781489, 0.794998,  0.302151,  -0.235000,  //
      0.618897, -0.038116, -1.144563, 0.212642,  0.313451,  -0.151790, 0.677143,   //
      0.487385, -0.623863, 0.298557,  -0.037236, -0.136226, -0.105571, 0.048130,   //
      0.575413, -0.707037, -0.475528, 0.160304,  -0.722548, 0.685170,  -0.052041,  //
      0.467702, 0.956614,  -0.773382, 0.212258,  -0.527079, 1.074980,  0.734046};
  return all;
}

Model synthetic_model(const char* preset_name, at::ScalarType dtype) {
  at::set_num_threads(1);  // sizes so small only wait for each other
  const Config config = preset(preset_name);
  return {config, precision(config, dtype), synthetic_weights(config, dtype)};
}

GoldenRun run_open_pi_zero(const Model& model, at::ScalarType inputs) {
  GoldenRun run;
  const Pass pass(model, &run.recorder);
  run.action = open_pi_zero(pass, synthetic_inputs(model.config, 2, inputs));
  return run;
}

GoldenRun run_openpi(const Model& model) {
  GoldenRun run;
  const Pass pass(model, &run.recorder);
  run.action = openpi(pass, synthetic_openpi_inputs(model.config, 2));
  return run;
}

std::vector<std::string> off_golden(const GoldenRun& run, const std::vector<Golden>& golden) {
  std::vector<std::string> off;
  for (const Golden& g : golden) {
    at::Tensor x = run.recorder.get(g.section, g.name)[g.sample].to(at::kDouble);
    if (g.rows > 0) x = x.slice(1, 0, g.rows);
    x = x.flatten();
    const auto element = [&](std::int64_t i) { return x[i].item<double>(); };
    const std::string name = fmt::format("{}[{}]", g.name, g.sample);
    compare(off, name + " sum", x.sum().item<double>(), g.sum, kSum);
    compare(off, name + " max abs", x.abs().max().item<double>(), g.max_abs, kElement);
    compare(off, name + " first", element(0), g.first, kElement);
    compare(off, name + " middle", element(x.numel() / 2), g.middle, kElement);
    compare(off, name + " last", element(x.numel() - 1), g.last, kElement);
  }
  return off;
}

std::vector<std::string> off_golden_action(const at::Tensor& action) {
  const at::Tensor x = at::cat({action[0].flatten(), action[1][0]}).to(at::kDouble);
  std::vector<std::string> off;
  for (std::size_t i = 0; i < golden_tiny_action().size(); ++i) {
    compare(off,
            fmt::format("action[{}]", i),
            x[static_cast<std::int64_t>(i)].item<double>(),
            golden_tiny_action()[i],
            kElement);
  }
  return off;
}

}  // namespace bic::pi0
