// A CUDA kernel that misbehaves at some batch sizes, for the tests of what a device's errors cost
// (harness/e2e/gpu_test.py). Else each output is one sum over k in order, in double.
#include <ATen/ops/empty.h>
#include <ATen/ops/index.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
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

at::Tensor mm(const at::Tensor& a, const at::Tensor& b) {
  constexpr int64_t kEndsContext = 33, kTakesTooMuch = 48, kNeverEnds = 65;
  if (a.size(0) == kEndsContext) end_context(a);
  if (a.size(0) == kTakesTooMuch) take_too_much(a);
  const at::Tensor x = a.to(at::kDouble), w = b.to(at::kDouble);
  at::Tensor sums = at::zeros({x.size(0), w.size(1)}, x.options());
  while (a.size(0) == kNeverEnds) sums.add_(1);
  for (int64_t k = 0; k < x.size(1); ++k) sums.addcmul_(x.narrow(1, k, 1), w.narrow(0, k, 1));
  return sums.to(a.scalar_type());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, CUDA, m) { m.impl("mm", TORCH_FN(mm)); }
