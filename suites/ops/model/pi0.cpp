#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

/// What a preset of suites/models/pi0/config.h has as sizes of a request.
struct Preset {
  const char* name;
  const char *image, *slots, *ids, *state, *tokens, *dims;
  bool on_request = false;
};

/// Of each request alone what it holds; the weights are the operator's.
Variant variant(const Preset& p, const std::string& op, bool cameras) {
  const std::string state = cameras ? "state" : "proprios";
  Variant v{.name = p.name,
            .call = "",
            .inputs = {{"pixels", {"B", "3", p.image, p.image}},
                       {"text", {"B", p.slots}, Elements::kIndices, p.ids},
                       {"lengths", {"B"}, Elements::kIndices, p.slots + std::string("+1")},
                       {state, {"B", "1", p.state}},
                       {"noise", {"B", p.tokens, p.dims}}},
            .output = {"y", {"B", p.tokens, p.dims}},
            .reduced = {},
            .batches = {1, 2, 3, 5, 8, 16, 17, 32},
            .on_request = p.on_request};
  if (p.on_request) v.batches = {1, 2, 3};
  if (cameras) {
    v.inputs[0].axes = {"B", "3", "3", p.image, p.image};
    v.inputs[3].axes = {"B", p.state};
    v.inputs.insert(v.inputs.begin() + 1, {"cameras", {"B", "3"}, Elements::kBools});
    v.output_dtype = DType::kFloat32;  // its heads stay in fp32
  }
  std::string call = "(y) = " + op + ".text(";
  for (const TensorSpec& t : v.inputs) call += t.name + ", ";
  call += "\"" + preset_name(v) + "\"";
  v.call = call + ")";
  v.forms["junk"] = call + ", wipe=False)";
  // Of full size ten prefixes would take longer than all else.
  if (!p.on_request) v.forms["chunk"] = call + ", reuse_prefix=False)";
  return v;
}

}  // namespace

OpSpec pi0() {
  const std::string bridge = "bic::pi0", openpi = "bic::pi0_openpi";
  return {
      .name = "pi0",
      .formula = "actions of a vision-language-action policy, 10 steps of flow (arXiv:2410.24164)",
      .why = "every kernel of a model in one call, on what the others leave; rows of every length",
      .bound = "twice the largest error of stock's honest evaluations; fp32 tiny: 1e-6",
      .variants =
          {variant({"tiny", "28", "6", "300", "7", "4", "7"}, bridge, false),
           variant({"tiny_ragged", "21", "6", "300", "7", "5", "7"}, bridge, false),
           variant({"tiny_openpi", "28", "8", "300", "8", "10", "8"}, openpi, true),
           variant({"open_pi_zero", "224", "20", "257152", "7", "4", "7", true}, bridge, false),
           variant(
               {"open_pi_zero_fractal", "224", "20", "257152", "8", "4", "7", true}, bridge, false),
           variant({"openpi", "224", "48", "257152", "32", "50", "32", true}, openpi, true)},
      .dtypes = {DType::kFloat32, DType::kBFloat16},
      .laws = {Law::kUniform, Law::kNormal},
      .suite = "pi0"};
}

}  // namespace bic::ops
