#include "generators/laws.h"

#include <algorithm>

#include "generators/values.h"

namespace bic {
namespace {

Block block_of(const FillProblem& problem, std::size_t index, SampleId id) {
  Block block{problem, contraction_of(problem.operands), index, {}, {}, 1};
  const OperandShape& operand = block.shape();
  const Seed of_tensor = derive(problem.seed, operand.name);
  block.id = operand.common ? SampleId{} : id;
  block.key = operand.common ? of_tensor : derive(of_tensor, std::uint64_t{id.value});
  for (const std::int64_t extent : operand.shape) block.size *= extent;
  return block;
}

Values values_of(const Block& block) {
  switch (block.problem.law) {
    case Law::kNormal:
    case Law::kEdge:
      return normal_values(block);
    case Law::kFactors:
      return factors_values(block);
    case Law::kUniform:
      return uniform_values(block);
    case Law::kCancel:
      return cancel_values(block);
    case Law::kWide:
      return wide_values(block);
    case Law::kOutlier:
      return outlier_values(block);
    case Law::kLinspace:
      return linspace_values(block);
    case Law::kOnes:
      return ones_values(block);
    case Law::kIntegers:
      return integers_values(block);
    case Law::kRamp:
      return ramp_values(block);
    case Law::kMasks:
      return masks_values(block);
    case Law::kSweep:
      return sweep_values(block);
    case Law::kSpecial:
      return special_values(block);
    case Law::kNan:
      return nan_values(block);
    case Law::kInf:
      return inf_values(block);
    case Law::kDenormal:
      return denormal_values(block);
    case Law::kHuge:
      return huge_values(block);
  }
  return {};
}

}  // namespace

void fill(const FillProblem& problem, std::size_t index, SampleId id, std::span<std::byte> out) {
  const Block block = block_of(problem, index, id);
  const auto width = static_cast<std::size_t>(size_of(problem.dtype));
  if (problem.law == Law::kSweep && width == 2) return fill_patterns(block, out);
  const Values values = values_of(block);
  std::array<double, kChunk> chunk;
  const auto size = static_cast<std::size_t>(block.size);
  for (std::size_t at = 0; at < size; at += kChunk) {
    const std::span<double> part = std::span(chunk).first(std::min(kChunk, size - at));
    values(static_cast<std::int64_t>(at), part);
    narrow(problem.dtype, part, out.subspan(at * width, part.size() * width));
  }
}

void trim(Law law,
          std::span<double> block,
          std::span<const std::int64_t> row,
          DType dtype,
          const std::function<double(std::span<const double>)>& wide_output) {
  if (law == Law::kEdge) trim_to_edge(block, row, dtype, wide_output);
  if (law == Law::kFactors) trim_factors(block, row, dtype, wide_output);
}

}  // namespace bic
