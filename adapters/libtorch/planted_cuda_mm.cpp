// A CUDA kernel that misbehaves at some batch sizes, for the tests of what a device's errors cost
// (harness/e2e/gpu_test.py). Else each output is one sum over k in order, in double.
#include <ATen/ops/empty.h>
#include <ATen/ops/index.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/library.h>

namespace {

/// An index that the device checks: its context answers nothing afterwards.
void end_context(const at::Tensor& x) {
  const at::Tensor beyond = at::tensor({int64_t{1} << 40}, at::kLong).to(x.device());
  at::index(x, {beyond});
}

void take_too_much(const at::Tensor& x) {
  at::empty({int64_t{1} << 50}, x.options().dtype(at::kByte));
}

at::Tensor sums(const at::Tensor& a, const at::Tensor& b, bool never_ends) {
  const at::Tensor x = a.to(at::kDouble), w = b.to(at::kDouble);
  at::Tensor y = at::zeros({x.size(0), w.size(1)}, x.options());
  while (never_ends) y.add_(1);
  for (int64_t k = 0; k < x.size(1); ++k) y.addcmul_(x.narrow(1, k, 1), w.narrow(0, k, 1));
  return y.to(a.scalar_type());
}

/// In few launches, which are queued before other work has ended.
at::Tensor soon(const at::Tensor& a, const at::Tensor& b) {
  return at::sum(at::mul(a.unsqueeze(2), b.unsqueeze(0)), {1});
}

/// Wherever the caller's work is queued.
at::Tensor on_default_stream(const at::Tensor& a, const at::Tensor& b) {
  const c10::StreamGuard guard(c10::impl::VirtualGuardImpl(at::kCUDA).getDefaultStream(a.device()));
  return soon(a, b);
}

/// Beside the caller's stream: a graph that is captured there has nothing to replay.
at::Tensor on_another_stream(const at::Tensor& a, const at::Tensor& b) {
  static const c10::Stream other =
      c10::impl::VirtualGuardImpl(at::kCUDA).getStreamFromGlobalPool(a.device());
  const at::Tensor y = at::empty({a.size(0), b.size(1)}, a.options());
  const c10::StreamGuard guard(other);
  return y.copy_(soon(a, b));
}

at::Tensor mm(const at::Tensor& a, const at::Tensor& b) {
  constexpr int64_t kOnAnotherStream = 9, kOnDefaultStream = 17, kEndsContext = 33,
                    kTakesTooMuch = 48, kNeverEnds = 65;
  if (a.size(0) == kOnAnotherStream) return on_another_stream(a, b);
  if (a.size(0) == kOnDefaultStream) return on_default_stream(a, b);
  if (a.size(0) == kEndsContext) end_context(a);
  if (a.size(0) == kTakesTooMuch) take_too_much(a);
  return sums(a, b, a.size(0) == kNeverEnds);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, CUDA, m) { m.impl("mm", TORCH_FN(mm)); }
