#include "adapters/faults/conduct.h"

#include <ATen/ops/bmm_cpu_dispatch.h>
#include <ATen/ops/gelu_cpu_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "adapters/faults/evaluate.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;

class Misconduct final : public Interposer {
 public:
  explicit Misconduct(Conduct conduct) : conduct_(conduct) {}
  at::Tensor call(const InterposedCall& call) override { return conduct_(call); }

 private:
  Conduct conduct_;
};

at::Tensor plain(const InterposedCall& call) { return call.honest(call.tensors); }

bool is_functional(const InterposedCall& call) {
  return call.trial.trial.form == Form::kFunctional;
}

std::byte* storage_of(const at::Tensor& t) {
  return static_cast<std::byte*>(t.storage().mutable_data());
}

/// The honest call into the destination, but for the part of it that `unwritten` views.
at::Tensor written_but(const InterposedCall& call,
                       at::Tensor (*unwritten)(const InterposedCall&, const at::Tensor&)) {
  const at::Tensor y = honest(call), target = destination(call, y);
  const at::Tensor part = unwritten(call, target), stale = part.clone();
  target.copy_(y);
  part.copy_(stale);
  return target;
}

/// ATen's own kernels, called past the dispatcher and what was registered there.
at::Tensor stock(const InterposedCall& call) {
  const at::Tensor& x = first_input(call);
  if (call.problem.op == "gelu") {
    return at::cpu::gelu(x, call.problem.variant == "tanh" ? "tanh" : "none");
  }
  const at::Tensor& w = call.tensors.at(call.problem.inputs[1].name);
  return call.problem.op == "mm" ? at::cpu::mm(x, w) : at::cpu::bmm(x, w);
}

}  // namespace

std::unique_ptr<Interposer> misconduct(Conduct conduct) {
  return std::make_unique<Misconduct>(conduct);
}

at::Tensor stale_output(const InterposedCall& call) {
  return written_but(call, [](const InterposedCall& c, const at::Tensor& y) {
    at::Tensor last = slots_of(c.problem, c.problem.output, y, batch_of(c) - 1, 1);
    while (last.dim() > 0) last = last.select(-1, -1);
    return last;
  });
}

at::Tensor grid_limit(const InterposedCall& call) {
  return written_but(call, [](const InterposedCall& c, const at::Tensor& y) {
    const std::int64_t batch = batch_of(c), launched = std::min<std::int64_t>(batch, 256);
    return slots_of(c.problem, c.problem.output, y, launched, batch - launched);
  });
}

at::Tensor scribbled_input(const InterposedCall& call) {
  const at::Tensor y = plain(call);
  const at::Tensor& x = first_input(call);
  if (!y.is_alias_of(x)) *static_cast<std::byte*>(x.mutable_data_ptr()) ^= std::byte{1};
  return y;
}

at::Tensor packed_in_place(const InterposedCall& call) {
  const at::Tensor y = plain(call);
  const at::Tensor& w = call.tensors.at(call.problem.inputs[1].name);
  w.copy_(w.flip(-1));
  return y;
}

// Behind every block of the worker's allocator, and before it, lies a guard: this hurts nobody.
at::Tensor out_of_bounds(const InterposedCall& call) {
  const at::Tensor y = plain(call);
  std::memset(storage_of(y) + y.storage().nbytes(), 0, y.element_size());
  return y;
}

at::Tensor before_begin(const InterposedCall& call) {
  const at::Tensor y = plain(call);
  std::memset(storage_of(y) - y.element_size(), 0, y.element_size());
  return y;
}

at::Tensor input_overrun(const InterposedCall& call) {
  const at::Tensor& x = first_input(call);
  std::memset(storage_of(x) + x.storage().nbytes(), 0, x.element_size());
  return plain(call);
}

at::Tensor aligned_store(const InterposedCall& call) {
  const at::Tensor y = plain(call);
  if (y.storage_offset() > 0) std::memset(storage_of(y), 0, y.element_size());
  return y;
}

at::Tensor not_called(const InterposedCall& call) { return hand_over(call, stock(call)); }

at::Tensor wrong_dtype(const InterposedCall& call) {
  const at::Tensor y = plain(call);
  return y.element_size() == 2 && is_functional(call) ? y.to(at::kFloat) : y;
}

at::Tensor narrowed_result(const InterposedCall& call) {
  const at::Tensor y = plain(call);
  return y.scalar_type() == at::kDouble && is_functional(call) ? y.to(at::kFloat) : y;
}

at::Tensor wrong_shape(const InterposedCall& call) {
  const at::Tensor y = plain(call);
  return is_functional(call) ? y.unsqueeze(0) : y;
}

at::Tensor transposed_output(const InterposedCall& call) {
  const at::Tensor y = plain(call);
  return is_functional(call) ? y.transpose(-1, -2) : y;
}

at::Tensor refuses(const InterposedCall& call) {
  if (call.problem.dtype != DType::kBFloat16) return plain(call);
  throw std::runtime_error("\"" + call.problem.op + "\" not implemented for 'BFloat16'");
}

at::Tensor refuses_unaligned(const InterposedCall& call) {
  if (first_input(call).size(-1) % 16 == 0) return plain(call);
  throw std::runtime_error("\"" + call.problem.op + "\" not implemented for rows of this length");
}

at::Tensor throws(const InterposedCall& call) {
  if (batch_of(call) != 129) return plain(call);
  throw std::runtime_error("invalid configuration argument");
}

at::Tensor crashes(const InterposedCall& call) {
  if (batch_of(call) == 33) std::raise(SIGSEGV);
  return plain(call);
}

at::Tensor aborts(const InterposedCall& call) {
  if (!first_input(call).is_contiguous()) std::abort();
  return plain(call);
}

at::Tensor hangs(const InterposedCall& call) {
  while (batch_of(call) == 33) std::this_thread::sleep_for(std::chrono::hours(1));
  return plain(call);
}

}  // namespace bic::faults
