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
        "mul",    "div",    "embedding", "index",      "cat",     "where"}},
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
        "where"}},
  };
  return kProfiles;
}

bool is_claimed(const report::OpRow& row) {
  return row.cases.sum() > row.cases[Status::kUnsupported];
}

Level level_of(const Profile& profile, DType dtype, std::span<const report::OpRow> rows) {
  std::optional<Level> least;
  for (const std::string_view op : profile.ops) {
    bool is_there = false;
    for (const report::OpRow& row : rows) {
      if (row.op != op) continue;
      is_there = true;
      if (row.dtype != dtype) continue;
      const Level level = is_claimed(row) ? row.level : Level::kNone;
      least = std::min(least.value_or(level), level);
    }
    if (!is_there) return Level::kNone;
  }
  return least.value_or(Level::kNone);
}

std::string device_class(const report::Subject& subject) {
  static const std::regex kNumber(":[0-9]+");
  return std::regex_replace(subject.device, kNumber, "");
}

}  // namespace bic::signing
