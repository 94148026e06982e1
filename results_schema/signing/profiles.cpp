#include "results_schema/signing/profiles.h"

#include <algorithm>
#include <optional>
#include <regex>

namespace bic::signing {

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> kProfiles{
      {"linear", {"mm", "linear", "bmm", "addmm", "baddbmm", "matmul", "mv", "dot"}},
      {"conv", {"conv2d", "conv1d"}},
      {"reduce",
       {"sum", "mean", "var", "std", "var_mean", "vector_norm", "cumsum", "prod", "amax", "max"}},
      {"softmax", {"softmax", "log_softmax", "log_softmax_fp32", "logsumexp"}},
      {"norm", {"layer_norm", "rms_norm", "group_norm", "batch_norm"}},
      {"elementwise",
       {"gelu",
        "silu",
        "sigmoid",
        "tanh",
        "exp",
        "log",
        "rsqrt",
        "sin",
        "cos",
        "pow",
        "add",
        "mul",
        "div",
        "rotary"}},
      {"movement", {"embedding", "index", "cat", "where"}},
      {"attention", {"scaled_dot_product_attention"}},
      {"pi0",
       {"linear", "matmul", "conv2d",    "layer_norm", "softmax", "scaled_dot_product_attention",
        "mean",   "sum",    "cumsum",    "gelu",       "silu",    "tanh",
        "exp",    "rsqrt",  "sin",       "cos",        "pow",     "add",
        "mul",    "div",    "embedding", "index",      "cat",     "where"},
       "pi0"},
      {"decoder",
       {"linear",
        "matmul",
        "softmax",
        "log_softmax",
        "mean",
        "gelu",
        "rsqrt",
        "sin",
        "cos",
        "pow",
        "add",
        "mul",
        "div",
        "embedding",
        "index",
        "cat",
        "where"},
       "decoder"},
  };
  return kProfiles;
}

bool is_claimed(const report::OpRow& row) {
  return row.cases.sum() > row.cases[Status::kUnsupported];
}

namespace {

/// The least level of an op's rows in the dtype; empty where it has none.
std::optional<Level> level_of(std::string_view op, DType dtype, const Shown& shown) {
  std::optional<Level> least;
  for (const report::OpRow& row : shown.ops) {
    if (row.op != op || row.dtype != dtype) continue;
    const Level level = is_claimed(row) ? row.level : Level::kNone;
    least = std::min(least.value_or(level), level);
  }
  return least;
}

/// Decoders have no levels: each passes, or nothing is held.
bool model_holds(std::string_view model, DType dtype, const Shown& shown) {
  if (model.empty()) return true;
  if (model != "decoder") return level_of(model, dtype, shown).has_value();
  bool is_there = false;
  for (const report::DecoderRow& row : shown.decoder) {
    if (row.question.dtype != dtype) continue;
    if (row.status != Status::kPass) return false;
    is_there = true;
  }
  return is_there;
}

}  // namespace

Level level_of(const Profile& profile, DType dtype, const Shown& shown) {
  if (!model_holds(profile.model, dtype, shown)) return Level::kNone;
  std::optional<Level> least = level_of(profile.model, dtype, shown);
  for (const std::string_view op : profile.ops) {
    const auto same = [&](const report::OpRow& row) { return row.op == op; };
    if (std::ranges::none_of(shown.ops, same)) return Level::kNone;
    const std::optional<Level> level = level_of(op, dtype, shown);
    if (level) least = std::min(least.value_or(*level), *level);
  }
  return least.value_or(Level::kNone);
}

std::string device_class(const report::Subject& subject) {
  static const std::regex kNumber(":[0-9]+");
  return std::regex_replace(subject.device, kNumber, "");
}

}  // namespace bic::signing
