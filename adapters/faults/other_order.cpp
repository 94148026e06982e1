#include "adapters/faults/other_order.h"

#include <ATen/Parallel.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "adapters/faults/evaluate.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;
using protocol::TensorMessage;

Slots all_if(const InterposedCall& call, bool condition) {
  return condition ? Slots{0, batch_of(call)} : Slots{};
}

/// The honest call, its slots of choice replaced by those of the other evaluation.
at::Tensor mixed(const InterposedCall& call, Slots other) {
  if (other.first == other.last) return call.honest(call.tensors);
  const at::Tensor z = otherwise(call);
  const at::Tensor y = honest(call);
  const auto part = [&](const at::Tensor& t) {
    return slots_of(call.problem, call.problem.output, t, other.first, other.last - other.first);
  };
  part(y).copy_(part(z));
  return hand_over(call, y);
}

class OtherOrder final : public Interposer {
 public:
  explicit OtherOrder(Choice choice) : choice_(choice) {}
  at::Tensor call(const InterposedCall& call) override { return mixed(call, choice_(call)); }

 private:
  Choice choice_;
};

class FirstCall final : public Interposer {
 public:
  void load(const protocol::ProblemMessage&) override { is_first_ = true; }
  at::Tensor call(const InterposedCall& call) override {
    return mixed(call, all_if(call, std::exchange(is_first_, false)));
  }

 private:
  bool is_first_ = true;
};

class Noisy final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    constexpr int kPeriod = 20;
    return mixed(call, all_if(call, ++calls_ % kPeriod == 0));
  }

 private:
  std::int64_t calls_ = 0;
};

class CachedByContent final : public Interposer {
 public:
  void load(const protocol::ProblemMessage&) override { blocks_.clear(); }

  at::Tensor call(const InterposedCall& call) override {
    const at::Tensor y = split_by_batch(call).last > 0 ? otherwise(call) : honest(call);
    const std::size_t common = hash_common(call);
    for (std::int64_t slot = 0; slot < batch_of(call); ++slot) {
      at::Tensor block = slots_of(call.problem, call.problem.output, y, slot, 1);
      const auto [at, is_new] = blocks_.try_emplace(hash_sample(call, slot, common));
      if (is_new) at->second = block.clone();
      block.copy_(at->second);
    }
    return hand_over(call, y);
  }

 private:
  static std::size_t mix(std::size_t seed, const at::Tensor& t) {
    const at::Tensor dense = t.contiguous();
    const auto* bytes = static_cast<const char*>(dense.const_data_ptr());
    return seed * 31 + std::hash<std::string_view>{}({bytes, dense.nbytes()});
  }

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

  std::unordered_map<std::size_t, at::Tensor> blocks_;
};

class ScalarTail final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    constexpr std::int64_t kVector = 16;
    const at::Tensor z = otherwise(call).contiguous();
    const at::Tensor y = honest(call).contiguous();
    const std::int64_t tail = y.numel() % kVector;
    const auto part = [&](const at::Tensor& t) {
      return t.view({-1}).narrow(0, t.numel() - tail, tail);
    };
    part(y).copy_(part(z));
    return hand_over(call, y);
  }
};

class HalvesOfK final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override { return hand_over(call, in_halves(call)); }
};

}  // namespace

std::unique_ptr<Interposer> other_order(Choice choice) {
  return std::make_unique<OtherOrder>(choice);
}
std::unique_ptr<Interposer> first_call() { return std::make_unique<FirstCall>(); }
std::unique_ptr<Interposer> noisy() { return std::make_unique<Noisy>(); }
std::unique_ptr<Interposer> cached_by_content() { return std::make_unique<CachedByContent>(); }
std::unique_ptr<Interposer> scalar_tail() { return std::make_unique<ScalarTail>(); }
std::unique_ptr<Interposer> halves_of_k() { return std::make_unique<HalvesOfK>(); }

Slots split_by_batch(const InterposedCall& call) { return all_if(call, batch_of(call) >= 8); }

Slots tile_by_batch(const InterposedCall& call) {
  constexpr std::int64_t kTile = 16;
  const std::int64_t batch = batch_of(call);
  return batch > kTile ? Slots{batch - batch % kTile, batch} : Slots{};
}

Slots last_position(const InterposedCall& call) {
  const std::int64_t batch = batch_of(call);
  return batch > 1 ? Slots{batch - 1, batch} : Slots{};
}

Slots one_batch_size(const InterposedCall& call) { return all_if(call, batch_of(call) == 257); }

Slots neighbour_scale(const InterposedCall& call) {
  // Above every law's values but those of hostile neighbours.
  const double threshold = call.problem.dtype == DType::kFloat16 ? 0x1p15 : 0x1p100;
  return all_if(call, first_input(call).abs().ge(threshold).any().item<bool>());
}

Slots thread_split(const InterposedCall& call) { return all_if(call, at::get_num_threads() > 2); }

Slots misaligned(const InterposedCall& call) {
  constexpr std::uintptr_t kVectorBytes = 32;
  const auto address = reinterpret_cast<std::uintptr_t>(first_input(call).const_data_ptr());
  return all_if(call, address % kVectorBytes != 0);
}

Slots strided(const InterposedCall& call) {
  return all_if(call, !first_input(call).is_contiguous());
}

Slots decode_order(const InterposedCall& call) {
  return all_if(call, call.trial.trial.form == Form::kChunk);
}

Slots vector_order(const InterposedCall& call) {
  return all_if(call, call.trial.trial.form == Form::kVector);
}

Slots given_output(const InterposedCall& call) {
  return all_if(call, writes_given(call.trial.trial.form));
}

}  // namespace bic::faults
