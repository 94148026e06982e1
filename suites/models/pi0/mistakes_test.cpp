#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "suites/models/pi0/golden.h"
#include "suites/models/pi0/parameters.h"

namespace bic::pi0 {
namespace {

/// A mistake that an implementer could make, as the change of constants or weights that has the
/// same effect on a right implementation.
struct Mistake {
  const char* name;
  std::function<void(Config&, Precision&, Weights&)> make;
};

enum ExpertIndex { kVlm, kProprio, kAction };

void times(Weights& w, const std::string& name, double factor) {
  for (const char* part : {".weight", ".bias"}) {
    if (w.contains(name + part)) w[name + part] = w[name + part] * factor;
  }
}

double root_of(const Config& c, ExpertIndex expert) {
  return std::sqrt(static_cast<double>(c.experts[expert].width));
}

/// Halves of the columns [begin, begin + columns), swapped.
void swap_halves(at::Tensor& w, std::int64_t columns) {
  const at::Tensor a = w.slice(1, 0, columns / 2), b = w.slice(1, columns / 2, columns);
  w = at::cat({b, a, w.slice(1, columns)}, 1);
}

/// Rows of each head so that turning its halves turns what were neighbours.
void pair_neighbours(at::Tensor& w, std::int64_t head_dim) {
  const at::Tensor heads = w.view({-1, head_dim, w.size(1)});
  w = at::cat({heads.slice(1, 0, head_dim, 2), heads.slice(1, 1, head_dim, 2)}, 1)
          .reshape(w.sizes());
}

void interleave(Config& c, Precision&, Weights& w) {
  for (auto& [name, tensor] : w) {
    const bool decoder = name.starts_with("joint_model.");
    const bool turned = name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight");
    if (decoder && turned) pair_neighbours(tensor, c.head_dim);
  }
}

void use_action_weights(Config& c, Precision&, Weights& w) {
  const std::string& from = c.experts[kAction].prefix;
  const std::string& to = c.experts[kProprio].prefix;
  for (auto& [name, tensor] : w) {
    if (name.starts_with(to)) tensor = w.at(from + name.substr(to.size()));
  }
}

void plain_norm_weights(Config& c, Precision&, Weights& w) {
  for (const Parameter& p : parameters(c)) {
    if (p.law == Law::kRmsNorm) w[p.name] = w[p.name] - 1;
  }
}

/// The rate of the time table is ln(period) / (half - 1).
void half_for_half_less_one(Config& c, Precision&, Weights&) {
  const double half = static_cast<double>(c.experts[kAction].width / 2);
  c.time_max_period = std::pow(c.time_max_period, (half - 1) / half);
}

const Mistake kMistakes[] = {
    {"action_before_time",
     [](Config& c, Precision&, Weights& w) {
       at::Tensor& weight = w[c.names.time_in + ".weight"];
       swap_halves(weight, weight.size(1));
     }},
    {"cos_before_sin",
     [](Config& c, Precision&, Weights& w) {
       at::Tensor& weight = w[c.names.time_in + ".weight"];
       swap_halves(weight, weight.size(1) / 2);
     }},
    {"no_final_norm",
     [](Config& c, Precision&, Weights&) { c.experts[kAction].final_norm = false; }},
    {"action_not_scaled",
     [](Config& c, Precision&, Weights& w) {
       times(w, c.names.time_out, 1 / root_of(c, kAction));
     }},
    {"norm_weight_without_one", plain_norm_weights},
    {"images_not_divided",
     [](Config& c, Precision&, Weights& w) { times(w, c.names.projector, root_of(c, kVlm)); }},
    {"text_not_scaled",
     [](Config& c, Precision&, Weights& w) { times(w, c.names.embedding, 1 / root_of(c, kVlm)); }},
    {"interleaved_rotary", interleave},
    {"proprio_before_vlm",
     [](Config& c, Precision&, Weights&) { std::swap(c.experts[kVlm], c.experts[kProprio]); }},
    {"expert_rotary_base_100",
     [](Config& c, Precision&, Weights&) {
       c.experts[kProprio].rope_base = c.experts[kAction].rope_base = 100;
     }},
    {"vlm_positions_from_0",
     [](Config& c, Precision&, Weights&) { c.experts[kVlm].first_position = 0; }},
    {"action_positions_from_1",
     [](Config& c, Precision&, Weights&) { c.experts[kAction].first_position = 1; }},
    {"proprio_with_action_weights", use_action_weights},
    {"half_for_half_less_one", half_for_half_less_one},
    {"no_soft_cap", [](Config& c, Precision&, Weights&) { c.soft_cap.reset(); }},
    {"exact_gelu", [](Config& c, Precision&, Weights&) { c.gelu = "none"; }},
    {"layer_norm_eps_1e5", [](Config& c, Precision&, Weights&) { c.vision.eps = 1e-5; }},
};

/// What only bf16 shows. A softmax in bf16 is not among them: ATen's widens its input itself.
const Mistake kBf16Mistakes[] = {
    {"rms_norm_in_bf16", [](Config&, Precision& p, Weights&) { p.norm = at::kBFloat16; }},
    {"time_table_in_fp32",
     [](Config&, Precision& p, Weights&) { p.time = p.time_values = at::kFloat; }},
    {"scalar_root_of_width", [](Config&, Precision& p, Weights&) { p.scale = at::kFloat; }},
    {"frequencies_in_fp32", [](Config&, Precision& p, Weights&) { p.buffers = at::kFloat; }},
};

Model mistaken(const Mistake& mistake, at::ScalarType dtype) {
  Model right = synthetic_model("tiny", dtype);
  mistake.make(right.config, right.precision, right.weights);
  return {right.config, right.precision, right.weights};  // makes its buffers anew
}

TEST(Pi0Mistakes, AreSeenInTheAction) {
  for (const Mistake& mistake : kMistakes) {
    const at::Tensor action = run_open_pi_zero(mistaken(mistake, at::kFloat)).action;
    EXPECT_THAT(off_golden_action(action), testing::Not(testing::IsEmpty())) << mistake.name;
  }
}

TEST(Pi0Mistakes, OfPrecisionChangeTheActionInBf16) {
  const auto action = [](const Model& model) {
    return run_open_pi_zero(model, at::kBFloat16).action;
  };
  const at::Tensor right = action(synthetic_model("tiny", at::kBFloat16));
  EXPECT_TRUE(at::equal(right, action(synthetic_model("tiny", at::kBFloat16))));
  for (const Mistake& mistake : kBf16Mistakes) {
    EXPECT_FALSE(at::equal(right, action(mistaken(mistake, at::kBFloat16)))) << mistake.name;
  }
}

}  // namespace
}  // namespace bic::pi0
