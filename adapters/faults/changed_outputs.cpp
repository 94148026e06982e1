#include "adapters/faults/changed_outputs.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "adapters/faults/evaluate.h"
#include "adapters/faults/other_order.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;
using protocol::TensorMessage;

class ChangedOutput final : public Interposer {
 public:
  explicit ChangedOutput(OutputChange change) : change_(change) {}

  at::Tensor call(const InterposedCall& call) override {
    return hand_over(call, change_(call, honest(call)));
  }

 private:
  OutputChange change_;
};

constexpr std::int64_t kVector = 16;

/// The last elements of `y`, which is contiguous, that fill no vector. A view.
at::Tensor tail_of(const at::Tensor& y) {
  const std::int64_t tail = y.numel() % kVector;
  return y.view({-1}).narrow(0, y.numel() - tail, tail);
}

/// The output's samples from slot `first`. A view.
at::Tensor samples(const InterposedCall& call,
                   const at::Tensor& y,
                   std::int64_t first,
                   std::int64_t count = 1) {
  return slots_of(call.problem, call.problem.output, y, first, count);
}

/// For each slot, -0 times the sum of the magnitudes that the other slots hold.
std::vector<double> masked_others(const InterposedCall& call) {
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

}  // namespace

std::unique_ptr<Interposer> changed_output(OutputChange change) {
  return std::make_unique<ChangedOutput>(change);
}

at::Tensor scalar_tail(const InterposedCall& call, const at::Tensor& y) {
  const at::Tensor dense = y.contiguous();
  tail_of(dense).copy_(tail_of(otherwise(call).contiguous()));
  return dense;
}

at::Tensor chunk_tails(const InterposedCall& call, const at::Tensor& y) {
  const at::Tensor dense = y.contiguous(), z = otherwise(call).contiguous();
  const std::int64_t threads = at::get_num_threads(), n = y.numel();
  const std::int64_t chunk = (n + threads - 1) / threads;
  for (std::int64_t first = 0; first < n; first += chunk) {
    const auto tail = [&](const at::Tensor& t) {
      return tail_of(t.view({-1}).slice(0, first, first + chunk));
    };
    tail(dense).copy_(tail(z));
  }
  return dense;
}

at::Tensor scan_tail(const InterposedCall& call, const at::Tensor& y) {
  constexpr std::int64_t kTail = 5;
  const std::int64_t batch = batch_of(call);
  if (batch == 1) return y;
  const std::int64_t scanned = reduced_axes(call.problem, call.problem.output).front();
  const std::int64_t tail = std::min(kTail, y.size(scanned));
  const auto part = [&](const at::Tensor& t) {
    return samples(call, t, batch - 1).narrow(scanned, t.size(scanned) - tail, tail);
  };
  part(y).copy_(part(otherwise(call)));
  return y;
}

at::Tensor halves_of_k(const InterposedCall& call, const at::Tensor& y) {
  return in_parts(call, 2, y.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
}

at::Tensor unsigned_zero_tail(const InterposedCall&, const at::Tensor& y) {
  const at::Tensor dense = y.contiguous();
  tail_of(dense).add_(0);
  return dense;
}

at::Tensor signed_nan_tail(const InterposedCall&, const at::Tensor& y) {
  constexpr std::int64_t kSign = -0x8000;
  const at::Tensor dense = y.contiguous(), tail = tail_of(dense);
  const at::Tensor bits = tail.view(at::kShort);
  bits.copy_(bits.bitwise_or(tail.isnan().to(at::kShort) * kSign));
  return dense;
}

at::Tensor sixteen_bit_partials(const InterposedCall& call, const at::Tensor& y) {
  return in_parts(call, 4, y.scalar_type());
}

at::Tensor single_inside(const InterposedCall& call, const at::Tensor& y) {
  const at::Tensor z = honest_on(call, [](const TensorMessage&, const at::Tensor& tensor) {
    return tensor.is_floating_point() ? tensor.to(at::kFloat) : tensor;
  });
  return z.to(y.scalar_type());
}

at::Tensor rounded_before_bias(const InterposedCall& call, const at::Tensor& y) {
  if (!call.tensors.contains("b")) return y;
  const at::Tensor product = honest_on(call, [](const TensorMessage& t, const at::Tensor& tensor) {
    return t.name == "b" ? tensor.new_zeros(tensor.sizes()) : tensor;
  });
  return product + call.tensors.at("b");
}

at::Tensor approximate_gelu(const InterposedCall& call, const at::Tensor&) {
  return at::gelu(first_input(call), "tanh");
}

at::Tensor dithered(const InterposedCall& call, const at::Tensor& y) {
  constexpr std::int64_t kDropped = 0x10000;
  const at::Tensor wide = honest_on(
      call, [](const TensorMessage&, const at::Tensor& tensor) { return tensor.to(at::kFloat); });
  std::vector<std::int64_t> noise(wide.numel());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<std::int64_t>(draw_of(i) % kDropped);
  }
  const at::Tensor bits = wide.contiguous().view(at::kInt);
  const at::Tensor raised = bits + at::tensor(noise, at::kInt).view(bits.sizes());
  return raised.bitwise_and(-kDropped).view(at::kFloat).to(y.scalar_type());
}

at::Tensor correction_ignored(const InterposedCall& call, const at::Tensor& y) {
  if (attribute(call, "correction") != 1) return y;
  double n = 1;
  for (const std::string& dim : call.problem.reduced) {
    n *= static_cast<double>(call.problem.dims.at(dim));
  }
  const double share = (n - 1) / n;
  return y * (call.problem.op == "std" ? std::sqrt(share) : share);
}

at::Tensor single_term(const InterposedCall& call, const at::Tensor& y) {
  const TensorMessage& first = call.problem.inputs.front();
  const bool is_single = first_input(call).size(reduced_axes(call.problem, first).back()) == 1;
  return is_single ? y + y : y;
}

at::Tensor lost_last_row(const InterposedCall& call, const at::Tensor& y) {
  if (batch_of(call) > 1) samples(call, y, batch_of(call) - 1).zero_();
  return y;
}

at::Tensor carry_not_reset(const InterposedCall& call, const at::Tensor& y) {
  const at::Tensor rows = y.clone();
  const std::int64_t scanned = reduced_axes(call.problem, call.problem.output).front();
  for (std::int64_t slot = 1; slot < batch_of(call); ++slot) {
    samples(call, y, slot).add_(samples(call, rows, slot - 1).slice(scanned, -1));
  }
  return y;
}

at::Tensor heads_interleaved(const InterposedCall& call, const at::Tensor& y) {
  constexpr std::int64_t kHeads = 8, kKeyHeads = 2;
  if (call.problem.variant != "gqa") return y;
  const at::Tensor order =
      at::arange(kHeads).view({kHeads / kKeyHeads, kKeyHeads}).t().reshape({-1});
  const at::Tensor z = honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
    return t.name == "q" ? tensor.index_select(1, order) : tensor;
  });
  return z.index_select(1, order.argsort());
}

at::Tensor flushed_outputs(const InterposedCall&, const at::Tensor& y) {
  return y.masked_fill(is_subnormal(y), 0);
}

at::Tensor saturating_cast(const InterposedCall&, const at::Tensor& y) {
  constexpr double kLargestHalf = 65504;
  return y.clamp(-kLargestHalf, kLargestHalf);
}

at::Tensor finite_math(const InterposedCall&, const at::Tensor& y) {
  return y.masked_fill(y.isnan(), 0);
}

at::Tensor nan_leak(const InterposedCall& call, const at::Tensor& y) {
  const std::vector<double> masked = masked_others(call);
  for (std::int64_t slot = 0; slot < batch_of(call); ++slot) {
    // -0 times a finite magnitude is -0, which changes no bit of what it is added to.
    samples(call, y, slot).add_(masked[slot]);
  }
  return y;
}

at::Tensor masked_nan(const InterposedCall& call, const at::Tensor& y) {
  // What a product with a weight of zero makes of a masked NaN.
  return call.trial.trial.pad_nan ? y + first_input(call).sum() * 0 : y;
}

at::Tensor row_overread(const InterposedCall& call, const at::Tensor& y) {
  const at::Tensor& x = first_input(call);
  const bool has_gap = x.dim() >= 2 && x.stride(-1) == 1 && x.stride(-2) > x.size(-1);
  if (!has_gap) return y;
  const at::Tensor behind = x.as_strided({1}, {1}, x.storage_offset() + x.size(-1));
  return y + behind[0] * -0.0;
}

at::Tensor dirty_workspace(const InterposedCall&, const at::Tensor& y) {
  return y + at::empty({1}, y.options())[0] * -0.0;
}

at::Tensor beta_times_output(const InterposedCall& call, const at::Tensor& y) {
  if (call.trial.trial.form != Form::kOut) return y;
  return y + call.tensors.at(call.problem.output.name) * -0.0;
}

}  // namespace bic::faults
