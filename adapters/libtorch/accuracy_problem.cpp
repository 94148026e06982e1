#include "adapters/libtorch/accuracy_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "adapters/libtorch/declared_problem.h"
#include "suites/ops/input_values.h"

namespace bic::libtorch {
namespace {

constexpr int kSamples = 3;  // of an op with a batch
constexpr std::int64_t kLargestDim =
    160;  // the reference is evaluated in double, element by element
constexpr std::int64_t kElements = 48;

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// A size of the range, short ones as likely as long ones: sharp bounds are those of short sums.
std::int64_t draw_dim(const DimRange& range, Seed seed) {
  const std::int64_t hi = std::min(range.hi, kLargestDim);
  const double share = static_cast<double>(derive(seed, range.name).value >> 11) * 0x1p-53;
  return std::clamp(
      static_cast<std::int64_t>(std::exp2(share * std::log2(static_cast<double>(hi) + 1))),
      std::int64_t{1},
      hi);
}

}  // namespace

AccuracyProblem::AccuracyProblem(const OpSpec& op, const Variant& variant, DType dtype, int number)
    : op_(op), variant_(variant), law_(op.accuracy_laws[number % op.accuracy_laws.size()]) {
  const Seed seed = derive(derive(Seed{20}, op.name + variant.name), number);
  Dims dims;
  for (const DimRange& range : op.dims) {
    if (mentions(variant, range.name)) dims[range.name] = draw_dim(range, seed);
  }
  const FillProblem fill_problem = fill_problem_of(variant, dtype, dims, law_, seed);
  operands_.resize(batch_axis(variant.output) < 0 ? 1 : kSamples);
  message_ = declared_problem(op, variant, dtype, dims, samples());
  for (std::size_t i = 0; i < variant.inputs.size(); ++i) add_input(fill_problem, i);
  output_dtype_ = variant.output_dtype.value_or(dtype);
  output_block_ = block_shape(variant.output, message_.dims);
}

void AccuracyProblem::add_input(const FillProblem& fill_problem, std::size_t i) {
  const OperandShape& shape = fill_problem.operands[i];
  const TensorSpec& t = variant_.inputs[i];
  const std::int64_t block = product(shape.shape), size = element_size(t, message_.dtype);
  for (int s = 0; s < samples(); ++s) {
    std::vector<std::byte> bytes(block * size);
    const SampleId id{static_cast<std::uint32_t>(s)};
    fill_input(variant_, fill_problem, message_.dims, i, id, bytes);
    if (s == 0 || !shape.common) pool_.insert(pool_.end(), bytes.begin(), bytes.end());
    widen_input(t, message_.dtype, bytes, operands_[s].emplace_back(block));
  }
}

Worst AccuracyProblem::judge(LibTorchBackend& backend,
                             Storage storage,
                             const Arithmetic& arithmetic) const {
  protocol::TrialMessage trial;
  trial.slots.resize(samples());
  std::iota(trial.slots.begin(), trial.slots.end(), 0);
  trial.trial.batch = samples();
  trial.trial.storage = storage;
  std::vector<std::byte> output(samples() * product(output_block_) * size_of(output_dtype_));
  backend.load(message_, pool_);
  const protocol::TrialReply reply = backend.run(trial, output);
  if (reply.outcome != protocol::Outcome::kRan) return {INFINITY, reply.message};
  Worst worst;
  for (int s = 0; s < samples(); ++s) {
    worst = std::max(worst, judge_sample(sample_of(output, s), s, arithmetic));
  }
  return worst;
}

std::vector<double> AccuracyProblem::sample_of(const std::vector<std::byte>& output,
                                               int sample) const {
  const int axis = batch_axis(variant_.output);
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= output_block_[i];
  for (std::size_t i = axis; i < output_block_.size(); ++i) inner *= output_block_[i];
  std::vector<double> all(output.size() / size_of(output_dtype_));
  widen(output_dtype_, output, all);
  std::vector<double> block;
  for (std::int64_t o = 0; o < outer; ++o) {
    const auto at = all.begin() + (o * samples() + sample) * inner;
    block.insert(block.end(), at, at + inner);
  }
  return block;
}

std::vector<std::int64_t> AccuracyProblem::some_elements(std::int64_t count) const {
  std::vector<std::int64_t> elements;
  const std::int64_t step = std::max<std::int64_t>(1, count / kElements);
  for (std::int64_t i = 0; i < count; i += step) elements.push_back(i);
  if (!elements.empty() && elements.back() != count - 1) elements.push_back(count - 1);
  return elements;
}

Worst AccuracyProblem::judge_sample(const std::vector<double>& y,
                                    int sample,
                                    const Arithmetic& arithmetic) const {
  const auto elements = some_elements(static_cast<std::int64_t>(y.size()));
  Operands operands{{}, message_.dims, message_.attributes};
  for (const auto& values : operands_[sample]) operands.values.emplace_back(values);
  std::vector<Wide> wide(elements.size());
  std::vector<double> bound(elements.size());
  op_.reference->wide(operands, output_dtype_, elements, wide);
  op_.reference->bound(operands, output_dtype_, arithmetic, elements, bound);
  Worst worst;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!std::isfinite(wide[i].hi) || !std::isfinite(bound[i])) continue;
    const double error = std::fabs((y[elements[i]] - wide[i].hi) - wide[i].lo);
    const double share = error == 0 ? 0 : error / bound[i];
    if (share <= worst.share) continue;
    worst.share = share;
    worst.where = fmt::format("{}-{} {} law {} element {}: {:a}, oracle {:a}, bound {:a}",
                              op_.name,
                              variant_.name,
                              name(message_.dtype),
                              name(law_),
                              elements[i],
                              y[elements[i]],
                              wide[i].hi,
                              bound[i]);
    for (const auto& [dim, extent] : message_.dims)
      worst.where += fmt::format(" {}={}", dim, extent);
  }
  return worst;
}

}  // namespace bic::libtorch
