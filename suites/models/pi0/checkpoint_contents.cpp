#include "suites/models/pi0/checkpoint_contents.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "results_schema/error.h"
#include "suites/models/pi0/parameters.h"

namespace bic::pi0 {
namespace {

using safetensors::printable;
using safetensors::Stored;

constexpr std::string_view kTiedHead = "paligemma_with_expert.paligemma.lm_head.weight";
constexpr std::string_view kUnusedHead = "paligemma_with_expert.gemma_expert.lm_head.weight";

/// Tells a checkpoint's tensors by a configuration's parameters.
class Reader {
 public:
  Reader(const Config& config, const std::filesystem::path& path)
      : config_(config), where_(path.string()) {
    for (const Parameter& p : parameters(config)) wanted_.emplace(p.name, p);
    sort(safetensors::open_checkpoint(path));
    for (const auto& [name, stored] : found_.tensors) check(wanted_.at(name), stored.entry);
  }

  CheckpointContents contents() && { return std::move(found_); }

 private:
  /// By parameter; refuses a checkpoint that has not exactly those of the model.
  void sort(const std::map<std::string, Stored>& tensors) {
    std::vector<std::string> surplus;
    std::optional<Stored> head;
    for (const auto& [key, stored] : tensors) {
      const std::string name = parameter_name(config_, key);
      if (name == kTiedHead || name == kUnusedHead) {
        if (name == kTiedHead) head = stored;
        found_.unread.push_back(printable(key));
      } else if (!wanted_.contains(name)) {
        surplus.push_back(printable(key));
      } else if (!found_.tensors.emplace(name, stored).second) {
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
    if (!head || found_.tensors.contains(embedding)) return;
    std::erase_if(found_.unread,
                  [&](const std::string& name) { return name == printable(head->entry.name); });
    found_.tensors.emplace(embedding, *head);
  }

  void refuse_missing() const {
    std::vector<std::string> missing;
    for (const auto& [name, parameter] : wanted_) {
      if (!found_.tensors.contains(name)) missing.push_back(name);
    }
    if (missing.empty()) return;
    throw UsageError(fmt::format("{}: {} of the {} tensors of {} are missing, the first '{}'",
                                 where_,
                                 missing.size(),
                                 wanted_.size(),
                                 config_.name,
                                 missing.front()));
  }

  void check(const Parameter& p, const safetensors::Entry& e) const {
    constexpr std::array<std::string_view, 4> kReals{"F32", "BF16", "F16", "F64"};
    if (e.shape != p.shape) {
      throw UsageError(fmt::format("{}: tensor {} is [{}], {} wants [{}]",
                                   where_,
                                   printable(e.name),
                                   fmt::join(e.shape, ","),
                                   config_.name,
                                   fmt::join(p.shape, ",")));
    }
    if (std::ranges::find(kReals, e.dtype) == kReals.end()) {
      throw UsageError(fmt::format("{}: tensor {} is of {}; weights are F64, F32, F16 or BF16",
                                   where_,
                                   printable(e.name),
                                   e.dtype));
    }
  }

  const Config& config_;
  std::string where_;
  std::map<std::string, Parameter> wanted_;
  CheckpointContents found_;
};

}  // namespace

CheckpointContents checkpoint_contents(const Config& config, const std::filesystem::path& path) {
  return Reader(config, path).contents();
}

std::string parameter_name(const Config& config, std::string name) {
  constexpr std::string_view kCompiled = "_orig_mod.", kWrapped = "model.", kShort = "time_mlp_";
  for (auto at = name.find(kCompiled); at != std::string::npos; at = name.find(kCompiled)) {
    name.erase(at, kCompiled.size());
  }
  if (name.starts_with(kWrapped)) name.erase(0, kWrapped.size());
  if (config.variant == Variant::kOpenPi && name.starts_with(kShort)) name = "action_" + name;
  return name;
}

}  // namespace bic::pi0
