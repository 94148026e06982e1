#include "adapters/faults/conduct.h"

#include <ATen/ops/bmm_cpu_dispatch.h>
#include <ATen/ops/gelu_cpu_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "adapters/faults/evaluate.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;

constexpr std::int64_t kFatalBatch = 33;

class ScribbledInput final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    at::Tensor y = call.honest(call.tensors);
    const at::Tensor& x = first_input(call);
    if (!y.is_alias_of(x)) *static_cast<std::byte*>(x.mutable_data_ptr()) ^= std::byte{1};
    return y;
  }
};

/// ATen's own kernels, called past the dispatcher and what was registered there.
class NotCalled final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override { return hand_over(call, stock(call)); }

 private:
  static at::Tensor stock(const InterposedCall& call) {
    const at::Tensor& x = first_input(call);
    if (call.problem.op == "gelu") {
      return at::cpu::gelu(x, call.problem.variant == "tanh" ? "tanh" : "none");
    }
    const at::Tensor& w = call.tensors.at(call.problem.inputs[1].name);
    return call.problem.op == "mm" ? at::cpu::mm(x, w) : at::cpu::bmm(x, w);
  }
};

class OutOfBounds final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    at::Tensor y = call.honest(call.tensors);
    // Behind every block of the worker's allocator lies a guard, so that this hurts nobody.
    auto* const begin = static_cast<std::byte*>(y.storage().mutable_data());
    std::memset(begin + y.storage().nbytes(), 0, y.element_size());
    return y;
  }
};

class WrongDtype final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    at::Tensor y = call.honest(call.tensors);
    const bool narrow = y.element_size() == 2 && call.trial.trial.form == Form::kFunctional;
    return narrow ? y.to(at::kFloat) : y;
  }
};

class WrongShape final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    at::Tensor y = call.honest(call.tensors);
    return call.trial.trial.form == Form::kFunctional ? y.unsqueeze(0) : y;
  }
};

class Refuses final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    if (call.problem.dtype != DType::kBFloat16) return call.honest(call.tensors);
    throw std::runtime_error("\"" + call.problem.op + "\" not implemented for 'BFloat16'");
  }
};

class Crashes final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    if (batch_of(call) == kFatalBatch) std::raise(SIGSEGV);
    return call.honest(call.tensors);
  }
};

class Hangs final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    while (batch_of(call) == kFatalBatch) std::this_thread::sleep_for(std::chrono::hours(1));
    return call.honest(call.tensors);
  }
};

}  // namespace

std::unique_ptr<Interposer> scribbled_input() { return std::make_unique<ScribbledInput>(); }
std::unique_ptr<Interposer> not_called() { return std::make_unique<NotCalled>(); }
std::unique_ptr<Interposer> out_of_bounds() { return std::make_unique<OutOfBounds>(); }
std::unique_ptr<Interposer> wrong_dtype() { return std::make_unique<WrongDtype>(); }
std::unique_ptr<Interposer> wrong_shape() { return std::make_unique<WrongShape>(); }
std::unique_ptr<Interposer> refuses() { return std::make_unique<Refuses>(); }
std::unique_ptr<Interposer> crashes() { return std::make_unique<Crashes>(); }
std::unique_ptr<Interposer> hangs() { return std::make_unique<Hangs>(); }

}  // namespace bic::faults
