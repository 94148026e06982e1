#include "suites/ops/input_values.h"

#include <cstring>

#include "generators/counter_rng.h"
#include "results_schema/axis.h"

namespace bic {
namespace {

/// Element i drawn from the problem's seed, the input's name and, unless it is common, the sample.
std::uint64_t draw(const FillProblem& problem, std::size_t index, SampleId id, std::size_t i) {
  const OperandShape& shape = problem.operands[index];
  const Seed key = derive(derive(problem.seed, shape.name), shape.common ? 0 : 1 + id.value);
  return derive(key, i).value;
}

}  // namespace

std::string element_name(const TensorSpec& t, DType dtype) {
  if (t.elements == Elements::kIndices) return "int64";
  if (t.elements == Elements::kBools) return "bool";
  return std::string(name(dtype));
}

std::int64_t element_size(const TensorSpec& t, DType dtype) {
  if (t.elements == Elements::kIndices) return 8;
  return t.elements == Elements::kBools ? 1 : size_of(dtype);
}

FillProblem fill_problem_of(
    const Variant& variant, DType dtype, const Dims& dims, Law law, Seed seed) {
  FillProblem problem{.dtype = dtype, .law = law, .seed = seed, .operands = {}};
  for (const TensorSpec& t : variant.inputs) {
    const bool summed = t.elements == Elements::kValues;
    problem.operands.push_back({.name = t.name,
                                .shape = block_shape(t, dims),
                                .reduced = summed ? reduced_axes(t, variant) : std::vector<int>{},
                                .common = batch_axis(t) < 0 && batch_axis(variant.output) >= 0});
  }
  return problem;
}

void fill_input(const Variant& variant,
                const FillProblem& problem,
                const Dims& dims,
                std::size_t index,
                SampleId id,
                std::span<std::byte> out) {
  const TensorSpec& t = variant.inputs[index];
  if (t.elements == Elements::kValues) {
    FillProblem filled = problem;
    // A sweep is one of the samples' inputs: common factors of any size would drown it.
    if (problem.law == Law::kSweep && problem.operands[index].common) filled.law = Law::kNormal;
    return fill(filled, index, id, out);
  }
  if (t.elements == Elements::kBools) {
    const auto row = static_cast<std::size_t>(problem.operands[index].shape.back());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t k = i % row, pair = k % ((row + 1) / 2);
      out[i] = std::byte{pair == 0 || draw(problem, index, id, i - k + pair) % 4 != 0};
    }
    return;
  }
  const auto below = static_cast<std::uint64_t>(axis_extent(t.below, dims, 1));
  for (std::size_t i = 0; i < out.size() / sizeof(std::int64_t); ++i) {
    const std::uint64_t value = draw(problem, index, id, i) % below;
    std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
  }
}

void widen_input(const TensorSpec& t,
                 DType dtype,
                 std::span<const std::byte> in,
                 std::span<double> out) {
  if (t.elements == Elements::kValues) return widen(dtype, in, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (t.elements == Elements::kBools) {
      out[i] = static_cast<double>(in[i]);
      continue;
    }
    std::int64_t value = 0;
    std::memcpy(&value, in.data() + i * sizeof value, sizeof value);
    out[i] = static_cast<double>(value);
  }
}

}  // namespace bic
