#include "adapters/faults/values.h"

#include <ATen/TensorOperators.h>

#include <vector>

#include "adapters/faults/evaluate.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;
using protocol::TensorMessage;

class NanLeak final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    at::Tensor y = honest(call);
    const std::vector<double> masked = masked_others(call);
    for (std::int64_t slot = 0; slot < batch_of(call); ++slot) {
      // -0 times a finite magnitude is -0, which changes no bit of what it is added to.
      slots_of(call.problem, call.problem.output, y, slot, 1).add_(masked[slot]);
    }
    return hand_over(call, y);
  }

 private:
  /// For each slot, -0 times the sum of the magnitudes that the other slots hold.
  static std::vector<double> masked_others(const InterposedCall& call) {
    const std::int64_t batch = batch_of(call);
    std::vector<double> sums, masked;
    for (std::int64_t slot = 0; slot < batch; ++slot) {
      const TensorMessage& t = call.problem.inputs.front();
      const at::Tensor block = slots_of(call.problem, t, first_input(call), slot, 1);
      sums.push_back(block.to(at::kDouble).abs().sum().item<double>());
    }
    for (std::int64_t slot = 0; slot < batch; ++slot) {
      double others = 0;
      for (std::int64_t i = 0; i < batch; ++i) others += i == slot ? 0 : sums[i];
      masked.push_back(-0.0 * others);
    }
    return masked;
  }
};

class StaleOutput final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    const at::Tensor y = honest(call);
    at::Tensor target = destination(call, y);
    const at::Tensor unwritten = last_element(call, target);
    const at::Tensor stale = unwritten.clone();
    target.copy_(y);
    unwritten.copy_(stale);
    return target;
  }

 private:
  /// A view of rank 0.
  static at::Tensor last_element(const InterposedCall& call, const at::Tensor& y) {
    at::Tensor last = slots_of(call.problem, call.problem.output, y, batch_of(call) - 1, 1);
    while (last.dim() > 0) last = last.select(-1, -1);
    return last;
  }
};

/// To nearest even on ten explicit bits.
at::Tensor round_to_tf32(const at::Tensor& x) {
  constexpr int kDropped = 13;
  const at::Tensor bits = x.view(at::kInt);
  const at::Tensor odd = bits.bitwise_right_shift(kDropped).bitwise_and(1);
  return (bits + odd + ((1 << (kDropped - 1)) - 1)).bitwise_and(-(1 << kDropped)).view(at::kFloat);
}

class Tf32Inputs final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    if (call.problem.dtype != DType::kFloat32) return call.honest(call.tensors);
    const at::Tensor y = honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
      const bool is_factor = !reduced_axes(call.problem, t).empty();
      return is_factor ? round_to_tf32(tensor) : tensor;
    });
    return hand_over(call, y);
  }
};

class DroppedTail final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    const at::Tensor y = honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
      const auto axes = reduced_axes(call.problem, t);
      return axes.empty() ? tensor : tensor.narrow(axes.back(), 0, tensor.size(axes.back()) - 1);
    });
    return hand_over(call, y);
  }
};

}  // namespace

std::unique_ptr<Interposer> nan_leak() { return std::make_unique<NanLeak>(); }
std::unique_ptr<Interposer> stale_output() { return std::make_unique<StaleOutput>(); }
std::unique_ptr<Interposer> tf32_inputs() { return std::make_unique<Tf32Inputs>(); }
std::unique_ptr<Interposer> dropped_tail() { return std::make_unique<DroppedTail>(); }

}  // namespace bic::faults
