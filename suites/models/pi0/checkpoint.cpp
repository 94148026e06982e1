#include "suites/models/pi0/checkpoint.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "results_schema/error.h"
#include "suites/models/pi0/parameters.h"
#include "suites/models/safetensors/checkpoint_files.h"

namespace bic::pi0 {
namespace {

using safetensors::printable;
using safetensors::Stored;

constexpr std::string_view kTiedHead = "paligemma_with_expert.paligemma.lm_head.weight";
constexpr std::string_view kUnusedHead = "paligemma_with_expert.gemma_expert.lm_head.weight";

std::optional<at::ScalarType> scalar_type(std::string_view dtype) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "BF16") return at::kBFloat16;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "F64") return at::kDouble;
  return std::nullopt;
}

/// A tensor of the file's bytes, which stay mapped as long as it lives. Bytes that do not lie where
/// the processor wants them are copied.
at::Tensor mapped(const Stored& stored, at::ScalarType dtype) {
  const auto bytes = stored.bytes();
  const at::TensorOptions options = at::TensorOptions().dtype(dtype);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % c10::elementSize(dtype) != 0) {
    at::Tensor copy = at::empty(stored.entry.shape, options);
    std::memcpy(copy.data_ptr(), bytes.data(), bytes.size());
    return copy;
  }
  auto* data = const_cast<std::byte*>(bytes.data());  // nobody writes to a weight
  return at::from_blob(
      data, stored.entry.shape, [file = stored.file](void*) {}, options);
}

/// Reads a checkpoint for one configuration.
class Loader {
 public:
  Loader(const Config& config, at::ScalarType dtype, const std::filesystem::path& path)
      : config_(config), dtype_(dtype), where_(path.string()) {
    for (const Parameter& p : parameters(config)) wanted_.emplace(p.name, p);
    sort(safetensors::open_checkpoint(path));
  }

  Loaded load() {
    Loaded loaded;
    std::map<std::string, int> conversions;
    for (const auto& [name, stored] : found_) {
      const Parameter& p = wanted_.at(name);
      const at::Tensor tensor = read(p, stored);
      const at::ScalarType dtype = stored_dtype(config_, p, dtype_);
      loaded.weights[name] = as(tensor, dtype);
      if (tensor.scalar_type() == dtype) continue;
      const bool exact = c10::promoteTypes(tensor.scalar_type(), dtype) == dtype;
      ++conversions[fmt::format(
          "{} {} to {}", stored.entry.dtype, exact ? "widened" : "rounded", c10::toString(dtype))];
    }
    for (const auto& [what, count] : conversions) {
      loaded.notes.push_back(fmt::format("{} tensors: {}", count, what));
    }
    for (const std::string& name : ignored_) loaded.notes.push_back("not read: " + name);
    return loaded;
  }

 private:
  /// By parameter; refuses a checkpoint that has not exactly those of the model.
  void sort(std::map<std::string, Stored> tensors) {
    std::vector<std::string> surplus;
    std::optional<Stored> head;
    for (auto& [key, stored] : tensors) {
      const std::string name = parameter_name(config_, key);
      if (name == kTiedHead || name == kUnusedHead) {
        if (name == kTiedHead) head = stored;
        ignored_.push_back(printable(key));
      } else if (!wanted_.contains(name)) {
        surplus.push_back(printable(key));
      } else if (!found_.emplace(name, stored).second) {
        throw UsageError(
            fmt::format("{}: two tensors are '{}', one of them {}", where_, name, printable(key)));
      }
    }
    take_tied_head(head);
    if (!surplus.empty()) {
      throw UsageError(
          fmt::format("{}: {} tensors that {} has not, the first {}; is it another model?",
                      where_,
                      surplus.size(),
                      config_.name,
                      surplus.front()));
    }
    refuse_missing();
  }

  /// The output head is tied to the embedding, and often the only copy of it.
  void take_tied_head(const std::optional<Stored>& head) {
    const std::string embedding = config_.names.embedding + ".weight";
    if (!head || found_.contains(embedding)) return;
    std::erase_if(ignored_,
                  [&](const std::string& name) { return name == printable(head->entry.name); });
    found_.emplace(embedding, *head);
  }

  void refuse_missing() const {
    std::vector<std::string> missing;
    for (const auto& [name, parameter] : wanted_) {
      if (!found_.contains(name)) missing.push_back(name);
    }
    if (missing.empty()) return;
    throw UsageError(fmt::format("{}: {} of the {} tensors of {} are missing, the first '{}'",
                                 where_,
                                 missing.size(),
                                 wanted_.size(),
                                 config_.name,
                                 missing.front()));
  }

  at::Tensor read(const Parameter& p, const Stored& stored) const {
    const safetensors::Entry& e = stored.entry;
    if (e.shape != p.shape) {
      throw UsageError(fmt::format("{}: tensor {} is [{}], {} wants [{}]",
                                   where_,
                                   printable(e.name),
                                   fmt::join(e.shape, ","),
                                   config_.name,
                                   fmt::join(p.shape, ",")));
    }
    const auto dtype = scalar_type(e.dtype);
    if (!dtype) {
      throw UsageError(fmt::format("{}: tensor {} is of {}; weights are F64, F32, F16 or BF16",
                                   where_,
                                   printable(e.name),
                                   e.dtype));
    }
    return mapped(stored, *dtype);
  }

  const Config& config_;
  at::ScalarType dtype_;
  std::string where_;
  std::map<std::string, Parameter> wanted_;
  std::map<std::string, Stored> found_;
  std::vector<std::string> ignored_;
};

}  // namespace

std::string parameter_name(const Config& config, std::string name) {
  constexpr std::string_view kCompiled = "_orig_mod.", kWrapped = "model.", kShort = "time_mlp_";
  for (auto at = name.find(kCompiled); at != std::string::npos; at = name.find(kCompiled)) {
    name.erase(at, kCompiled.size());
  }
  if (name.starts_with(kWrapped)) name.erase(0, kWrapped.size());
  if (config.variant == Variant::kOpenPi && name.starts_with(kShort)) name = "action_" + name;
  return name;
}

Loaded load_weights(const Config& config, at::ScalarType dtype, const std::filesystem::path& path) {
  return Loader(config, dtype, path).load();
}

}  // namespace bic::pi0
