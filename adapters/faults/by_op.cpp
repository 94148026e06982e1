#include "adapters/faults/by_op.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cstdlib>

#include "adapters/faults/evaluate.h"

namespace bic::faults {
namespace {

using libtorch::InterposedCall;
using libtorch::Interposer;
using protocol::TensorMessage;

/// The value of a real attribute; 1 where the variant has none.
double attribute(const InterposedCall& call, const std::string& name) {
  const auto at = call.problem.attributes.find(name);
  return at == call.problem.attributes.end() ? 1 : std::strtod(at->second.c_str(), nullptr);
}

class AlphaIgnored final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    const double alpha = attribute(call, "alpha");
    const std::string last = call.problem.inputs.back().name;
    const at::Tensor y = honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
      return t.name == last ? tensor / alpha : tensor;
    });
    return hand_over(call, y);
  }
};

class MaskOffByOne final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    const at::Tensor y = honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
      return t.elements == "bool" ? tensor.roll(1, -1) : tensor;
    });
    return hand_over(call, y);
  }
};

class BatchStatistics final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    const std::string first = call.problem.inputs.front().name;
    const at::Tensor y = honest_on(call, [&](const TensorMessage& t, const at::Tensor& tensor) {
      return t.name == first ? tensor - tensor.mean(batch_axis(t), true) : tensor;
    });
    return hand_over(call, y);
  }
};

class ScanTail final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    constexpr std::int64_t kTail = 5;
    const std::int64_t batch = batch_of(call);
    const at::Tensor z = otherwise(call), y = honest(call);
    const TensorMessage& output = call.problem.output;
    const std::int64_t scanned = reduced_axes(call.problem, output).front();
    const std::int64_t tail = std::min(kTail, y.size(scanned));
    const auto part = [&](const at::Tensor& t) {
      return slots_of(call.problem, output, t, batch - 1, 1)
          .narrow(scanned, t.size(scanned) - tail, tail);
    };
    if (batch > 1) part(y).copy_(part(z));
    return hand_over(call, y);
  }
};

class MaskedNan final : public Interposer {
 public:
  at::Tensor call(const InterposedCall& call) override {
    at::Tensor y = honest(call);
    // What a product with a weight of zero makes of a masked NaN.
    if (call.trial.trial.pad_nan) y = y + first_input(call).sum() * 0;
    return hand_over(call, y);
  }
};

}  // namespace

std::unique_ptr<Interposer> alpha_ignored() { return std::make_unique<AlphaIgnored>(); }
std::unique_ptr<Interposer> mask_off_by_one() { return std::make_unique<MaskOffByOne>(); }
std::unique_ptr<Interposer> batch_statistics() { return std::make_unique<BatchStatistics>(); }
std::unique_ptr<Interposer> scan_tail() { return std::make_unique<ScanTail>(); }
std::unique_ptr<Interposer> masked_nan() { return std::make_unique<MaskedNan>(); }

}  // namespace bic::faults
