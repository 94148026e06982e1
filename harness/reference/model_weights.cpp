#include "harness/reference/model_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "results_schema/error.h"
#include "suites/models/pi0/checkpoint_contents.h"

namespace bic {
namespace {

constexpr const char* kAttribute = "weights";

/// Enough of a digest to tell weights apart.
std::string short_digest(const std::string& sha256) { return sha256.substr(0, 16); }

/// The call with one more argument.
std::string with_checkpoint(const std::string& call, const std::string& file) {
  return fmt::format("{}, checkpoint=\"{}\")", call.substr(0, call.rfind(')')), file);
}

}  // namespace

report::ModelWeights read_weights(const std::string& path, const std::string& preset) {
  const std::string file = std::filesystem::absolute(path).lexically_normal().string();
  const auto is_odd = [](char c) { return c == '"' || static_cast<unsigned char>(c) < ' '; };
  if (std::ranges::any_of(file, is_odd)) {
    throw UsageError(
        fmt::format("--weights: '{}' has quotes or control characters in it; give it "
                    "another name",
                    path));
  }
  try {
    pi0::checkpoint_contents(pi0::preset(preset), file);
    return {preset, file, safetensors::checkpoint_sha256(file)};
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("--weights: {}", e.what()));
  }
}

void take_weights(OpSpec& op, const report::ModelWeights& weights) {
  for (Variant& v : op.variants) {
    if (preset_name(v) != weights.preset) continue;
    v.attributes[kAttribute] = short_digest(weights.sha256);
    v.call = with_checkpoint(v.call, weights.file);
    for (auto& [form, call] : v.forms) call = with_checkpoint(call, weights.file);
  }
}

std::optional<report::ModelWeights> same_weights(const WantedWeights& wanted,
                                                 const std::string& path) {
  const std::string& digest = wanted.sha256;
  if (path.empty() && digest.empty()) return {};
  if (path.empty()) {
    throw UsageError(fmt::format(
        "{} has weights of SHA-256 {}; give their file with --weights", wanted.whose, digest));
  }
  if (digest.empty()) {
    throw UsageError(
        fmt::format("--weights: {} has synthetic weights; leave the flag out", wanted.whose));
  }
  report::ModelWeights weights = read_weights(path, wanted.preset);
  if (weights.sha256.starts_with(digest)) return weights;
  throw UsageError(fmt::format("--weights: '{}' has SHA-256 {}, {}'s weights have {}",
                               path,
                               weights.sha256.substr(0, digest.size()),
                               wanted.whose,
                               digest));
}

std::optional<report::ModelWeights> weights_of_case(const CaseName& name, const std::string& path) {
  const OpSpec* const op = find_op(name.op);
  if (op == nullptr || op->suite.empty()) return {};
  const auto variant = std::ranges::find(op->variants, name.variant, &Variant::name);
  if (variant == op->variants.end()) return {};  // what is wrong is said of the case
  const auto there = name.attributes.find(kAttribute);
  const std::string digest = there == name.attributes.end() ? "" : there->second;
  return same_weights({"the case", preset_name(*variant), digest}, path);
}

}  // namespace bic
