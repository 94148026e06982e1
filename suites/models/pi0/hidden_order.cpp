#include "suites/models/pi0/hidden_order.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "results_schema/error.h"
#include "results_schema/nearest.h"

namespace bic::pi0 {
namespace {

const std::array<std::string, 4> kOrderNames{"stored", "reversed", "halves", "lanes16"};

/// Which unit stands at each place.
std::vector<std::int64_t> places(std::int64_t units, HiddenOrder order) {
  std::vector<std::int64_t> from;
  const auto every = [&](std::int64_t stride) {
    for (std::int64_t first = 0; first < stride; ++first) {
      for (std::int64_t i = first; i < units; i += stride) from.push_back(i);
    }
  };
  if (order == HiddenOrder::kLanes16) {
    every(16);
  } else if (order == HiddenOrder::kHalves) {
    const std::int64_t half = (units + 1) / 2;
    for (std::int64_t i = 0; i < units; ++i) from.push_back(i % 2 * half + i / 2);
  } else {
    every(1);
    if (order == HiddenOrder::kReversed) std::ranges::reverse(from);
  }
  return from;
}

/// The same permutation of each group of `units` along the axis; 0 of them: none.
at::Tensor permuted(const at::Tensor& x, std::int64_t axis, std::int64_t units, HiddenOrder order) {
  if (units == 0) return x;
  const std::int64_t first = axis < 0 ? axis + x.dim() : axis;
  const at::Tensor from = at::tensor(places(units, order)).to(x.device());
  const at::Tensor groups = x.unflatten(first, {-1, units});
  return at::index_select(groups, first + 1, from).flatten(first, first + 1);
}

/// Sizes of the groups of units along the first axis of a weight, which its outputs have, and along
/// the last one, which its inputs have; 0: none.
struct Units {
  std::int64_t out = 0;
  std::int64_t in = 0;
};

bool has_layer(std::string_view name, std::initializer_list<std::string_view> layers) {
  return std::ranges::any_of(layers, [&](auto layer) { return name.find(layer) != name.npos; });
}

Units units_of_tower(const Vision& v, std::string_view name) {
  const std::int64_t head = v.width / v.heads;
  if (has_layer(name, {".q_proj.", ".k_proj.", ".v_proj."})) return {head, v.width};
  if (has_layer(name, {".out_proj."})) return {v.width, head};
  if (has_layer(name, {".fc1."})) return {v.mlp, v.width};
  if (has_layer(name, {".fc2."})) return {v.width, v.mlp};
  if (has_layer(name, {"position_embedding."})) return {0, v.width};
  return {v.width, 0};  // norms and the patch embedding
}

Units units_of_expert(const Config& c, const Expert& e, std::string_view name) {
  // A rotary embedding turns dim k with dim k + head_dim / 2.
  if (has_layer(name, {".q_proj.", ".k_proj."})) return {c.head_dim / 2, e.width};
  if (has_layer(name, {".v_proj."})) return {c.head_dim, e.width};
  if (has_layer(name, {".o_proj."})) return {e.width, c.head_dim};
  if (has_layer(name, {".gate_proj.", ".up_proj."})) return {e.mlp, e.width};
  if (has_layer(name, {".down_proj."})) return {e.width, e.mlp};
  return {e.width, 0};
}

/// Of a model of many layers the units of the first MLPs only: copies of all weights would take
/// longer than the model, and all later layers show what the first ones round otherwise.
Units units_of_first_mlps(const Config& c, std::string_view name) {
  if (!has_layer(name, {".layers.0.mlp."})) return {};
  const bool tower = name.starts_with(c.names.vision);
  std::int64_t mlp = c.vision.mlp;
  for (const Expert& e : c.experts) {
    if (!tower && name.starts_with(e.prefix)) mlp = e.mlp;
  }
  if (has_layer(name, {".gate_proj.", ".up_proj.", ".fc1."})) return {mlp, 0};
  return has_layer(name, {".down_proj.", ".fc2.weight"}) ? Units{0, mlp} : Units{};
}

bool has_many_layers(const Config& c) { return c.layers > 4; }

Units units_of(const Config& c, std::string_view name) {
  if (has_many_layers(c)) return units_of_first_mlps(c, name);
  const std::int64_t vlm = c.expert("vlm").width, action = c.expert("action").width;
  if (name.starts_with(c.names.embedding + ".")) return {0, vlm};
  if (name.starts_with(c.names.vision)) return units_of_tower(c.vision, name);
  if (name.starts_with(c.names.projector + ".")) return {vlm, c.vision.width};
  for (const Expert& e : c.experts) {
    if (name.starts_with(e.prefix)) return units_of_expert(c, e, name);
  }
  // What goes in beside the sinusoids of the time stays as it is.
  for (const std::string& first : {c.names.state, c.names.time_in}) {
    if (name.starts_with(first + ".")) return {action, 0};
  }
  if (name.starts_with(c.names.time_out + ".")) return {action, action};
  if (name == c.names.action_out + ".weight") return {0, action};
  return {};
}

}  // namespace

HiddenOrder parse_hidden_order(std::string_view name) {
  const auto at = std::ranges::find(kOrderNames, name);
  if (at != kOrderNames.end()) return static_cast<HiddenOrder>(at - kOrderNames.begin());
  throw UsageError(fmt::format("pi0: no order '{}' of hidden units{}; there are {}",
                               name,
                               did_you_mean(name, kOrderNames),
                               fmt::join(kOrderNames, ", ")));
}

at::Tensor reordered(const Config& config,
                     std::string_view name,
                     const at::Tensor& weight,
                     HiddenOrder order) {
  if (order == HiddenOrder::kStored) return weight;
  const Units units = units_of(config, name);
  const at::Tensor turned = permuted(weight, 0, units.out, order);
  return weight.dim() == 1 ? turned : permuted(turned, -1, units.in, order);
}

at::Tensor reordered(const Config& config, const at::Tensor& frequencies, HiddenOrder order) {
  if (order == HiddenOrder::kStored || has_many_layers(config)) return frequencies;
  return permuted(frequencies, 0, frequencies.size(0), order);
}

}  // namespace bic::pi0
