#include "adapters/faults/kept_state.h"

#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "adapters/faults/evaluate.h"
#include "adapters/faults/other_order.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;
using protocol::TensorMessage;

/// What a choice may remember of the calls of a problem, this one included.
struct Past {
  std::int64_t calls = 0;
  std::unordered_set<std::int64_t> batches;  ///< sizes before this call
  std::int64_t largest = 0;                  ///< batch before this call
  std::uint64_t draws = 0;                   ///< of all problems
};

/// A fault that chooses between two honest evaluations by the calls before.
class ByPast final : public Interposer {
 public:
  using Choice = Slots (*)(const InterposedCall&, Past&);
  explicit ByPast(Choice choice) : choice_(choice) {}

  void load(const protocol::ProblemMessage&) override { past_ = {.draws = past_.draws}; }

  at::Tensor call(const InterposedCall& call) override {
    ++past_.calls;
    const Slots chosen = choice_(call, past_);
    past_.batches.insert(batch_of(call));
    past_.largest = std::max(past_.largest, batch_of(call));
    return mixed(call, chosen);
  }

 private:
  Choice choice_;
  Past past_;
};

constexpr std::uint64_t kRare = 20;

/// Every twentieth call, whatever the problem.
bool is_rare(Past& past) { return ++past.draws % kRare == 0; }

Slots drawn_anew(const InterposedCall& call, Past& past) {
  Slots chosen;
  for (std::int64_t slot = 0; slot < batch_of(call); ++slot) {
    if (draw_of(past.draws++) % 2 == 1) chosen.push_back(slot);
  }
  return chosen;
}

/// Every twentieth call has one element of its first sample from the other evaluation.
class RareElement final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    if (++calls_ % kRare != 0) return call.honest(call.tensors);
    const at::Tensor z = otherwise(call).contiguous(), y = honest(call).contiguous();
    const at::Tensor differing = y.view({-1}).ne(z.view({-1})).nonzero();
    if (differing.numel() > 0) {
      const auto at = differing.view({-1})[0].item<std::int64_t>();
      y.view({-1})[at].copy_(z.view({-1})[at]);
    }
    return hand_over(call, y);
  }

 private:
  std::uint64_t calls_ = 0;
};

std::size_t mix(std::size_t seed, std::size_t value) { return draw_of(seed * 31 + value); }

std::size_t mix(std::size_t seed, const at::Tensor& t) {
  const at::Tensor dense = t.contiguous();
  const auto* bytes = static_cast<const char*>(dense.const_data_ptr());
  return mix(seed, std::hash<std::string_view>{}({bytes, dense.nbytes()}));
}

/// Remembers each sample's output by a hash of what goes into it, one of `keys`.
class CachedByContent final : public Interposer {
 public:
  CachedByContent(Choice choice, std::size_t keys) : choice_(choice), keys_(keys) {}

  void load(const protocol::ProblemMessage&) override { blocks_.clear(); }

  at::Tensor call(const InterposedCall& call) override {
    const at::Tensor y = choice_(call).empty() ? honest(call) : otherwise(call);
    const std::size_t common = hash_common(call);
    for (std::int64_t slot = 0; slot < batch_of(call); ++slot) {
      at::Tensor block = slots_of(call.problem, call.problem.output, y, slot, 1);
      const auto [at, is_new] = blocks_.try_emplace(hash_sample(call, slot, common) % keys_);
      if (is_new) at->second = block.clone();
      block.copy_(at->second);
    }
    return hand_over(call, y);
  }

 private:
  /// Without what padding appended, so that a sample is known again under any padding.
  static at::Tensor unpadded(const InterposedCall& call, const TensorMessage& t) {
    const at::Tensor& tensor = call.tensors.at(t.name);
    for (std::size_t i = 0; i < t.axes.size(); ++i) {
      if (call.trial.trial.pad > 0 && t.axes[i] == call.trial.trial.pad_dim) {
        return tensor.narrow(static_cast<std::int64_t>(i), 0, call.problem.dims.at(t.axes[i]));
      }
    }
    return tensor;
  }

  static std::size_t hash_common(const InterposedCall& call) {
    std::size_t seed = 0;
    for (const TensorMessage& t : call.problem.inputs) {
      if (batch_axis(t) < 0) seed = mix(seed, unpadded(call, t));
    }
    return seed;
  }

  static std::size_t hash_sample(const InterposedCall& call, std::int64_t slot, std::size_t seed) {
    for (const TensorMessage& t : call.problem.inputs) {
      if (batch_axis(t) < 0) continue;
      seed = mix(seed, slots_of(call.problem, t, unpadded(call, t), slot, 1));
    }
    return seed;
  }

  Choice choice_;
  std::size_t keys_;
  std::unordered_map<std::size_t, at::Tensor> blocks_;
};

class PreviousOutput final : public Interposer {
 public:
  void load(const protocol::ProblemMessage&) override { previous_.clear(); }

  at::Tensor call(const InterposedCall& call) override {
    const at::Tensor y = honest(call), now = y.clone();
    const auto last = [&](const at::Tensor& t) {
      return slots_of(call.problem, call.problem.output, t, batch_of(call) - 1, 1);
    };
    at::Tensor& previous = previous_[y.sizes().vec()];
    if (previous.defined() && batch_of(call) > 1) last(y).copy_(last(previous));
    previous = now;
    return hand_over(call, y);
  }

 private:
  std::map<std::vector<std::int64_t>, at::Tensor> previous_;  ///< by shape
};

class Replayed final : public Interposer {
 public:
  void load(const protocol::ProblemMessage&) override { captured_.clear(); }

  at::Tensor call(const InterposedCall& call) override {
    const bool is_captured = batch_of(call) == 1 && !captured_.insert(signature(call)).second;
    return mixed(call, all_if(call, is_captured));
  }

 private:
  /// Of everything that a captured call is known again by.
  static std::size_t signature(const InterposedCall& call) {
    auto seed = mix(static_cast<std::size_t>(call.trial.trial.form), call.trial.threads);
    for (const TensorMessage& t : call.problem.inputs) {
      const at::Tensor& tensor = call.tensors.at(t.name);
      seed = mix(mix(seed, tensor), tensor.storage_offset());
      for (std::int64_t stride : tensor.strides()) seed = mix(seed, stride);
    }
    return seed;
  }

  std::unordered_set<std::size_t> captured_;
};

std::unique_ptr<Interposer> by_past(ByPast::Choice choice) {
  return std::make_unique<ByPast>(choice);
}

}  // namespace

std::unique_ptr<Interposer> cached_by_content() {
  return std::make_unique<CachedByContent>(split_by_batch, std::numeric_limits<std::size_t>::max());
}

std::unique_ptr<Interposer> hash_collision() {
  constexpr std::size_t kKeys = 8;
  const Choice never = [](const InterposedCall&) { return Slots{}; };
  return std::make_unique<CachedByContent>(never, kKeys);
}

std::unique_ptr<Interposer> previous_output() { return std::make_unique<PreviousOutput>(); }
std::unique_ptr<Interposer> replayed() { return std::make_unique<Replayed>(); }
std::unique_ptr<Interposer> rare_element() { return std::make_unique<RareElement>(); }
std::unique_ptr<Interposer> advancing_stream() { return by_past(drawn_anew); }

std::unique_ptr<Interposer> first_call() {
  return by_past([](const auto& call, Past& past) { return all_if(call, past.calls == 1); });
}

std::unique_ptr<Interposer> autotune_by_shape() {
  return by_past([](const auto& call, Past& past) {
    return all_if(call, !past.batches.contains(batch_of(call)));
  });
}

std::unique_ptr<Interposer> tier_up() {
  constexpr std::int64_t kInterpreted = 4;
  return by_past(
      [](const auto& call, Past& past) { return all_if(call, past.calls > kInterpreted); });
}

std::unique_ptr<Interposer> grown_workspace() {
  return by_past([](const auto& call, Past& past) { return all_if(call, past.largest >= 256); });
}

std::unique_ptr<Interposer> noisy() {
  return by_past([](const auto& call, Past& past) { return all_if(call, is_rare(past)); });
}

std::unique_ptr<Interposer> atomic_add() {
  return by_past([](const auto& call, Past& past) {
    return all_if(call, batch_of(call) >= 64 && ++past.draws % 2 == 0);
  });
}

}  // namespace bic::faults
