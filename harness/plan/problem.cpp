#include "harness/plan/problem.h"

#include <algorithm>

#include "harness/plan/arrangement.h"
#include "results_schema/axis.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"
#include "results_schema/shape.h"
#include "suites/ops/input_values.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

bool is_sixteen_bit(DType t) { return size_of(t) == 2; }

[[noreturn]] void refuse(std::string_view field, const std::string& what) {
  throw UsageError("case string: field '" + std::string(field) + "': " + what);
}

const Variant& variant_of(const CaseName& name, const OpSpec& op) {
  for (const Variant& v : op.variants) {
    if (v.name == name.variant) return v;
  }
  refuse("op", "'" + name.op + "' has no variant '" + name.variant + "'");
}

void check_dims(const CaseName& name, const OpSpec& op, const Variant& variant) {
  std::vector<std::string> known;
  for (const DimRange& d : op.dims) {
    if (mentions(variant, d.name)) known.push_back(d.name);
  }
  for (const auto& [dim, extent] : name.dims) {
    if (std::ranges::find(known, dim) == known.end()) {
      refuse("dims", "'" + dim + "' is no dim of '" + op.name + "'");
    }
    if (extent < 1) refuse("dims", "'" + dim + "' must be at least 1");
  }
  for (const std::string& dim : known) {
    if (!name.dims.contains(dim)) refuse("dims", "'" + dim + "' of '" + op.name + "' is missing");
  }
}

}  // namespace

ControlKind Problem::proves() const {
  if (accuracy) return ControlKind::kValue;
  if (op->control != ControlKind::kOrder) return op->control;
  return reduced_extent() >= shortest_telling_axis(*op, dtype) ? ControlKind::kOrder
                                                               : ControlKind::kValue;
}

bool Problem::sweeps() const {
  return op->control == ControlKind::kTail && law == Law::kSweep && is_sixteen_bit(dtype) &&
         !accuracy;
}

std::int64_t Problem::reduced_extent() const {
  std::int64_t extent = 1;
  for (const std::string& axis : variant->reduced) extent *= axis_extent(axis, dims, 1);
  return extent;
}

DType Problem::output_dtype() const { return variant->output_dtype.value_or(dtype); }

std::int64_t Problem::output_elements() const {
  return element_count(block_shape(variant->output, dims));
}

std::int64_t Problem::elements() const {
  std::int64_t elements = output_elements();
  for (const TensorSpec& t : variant->inputs) {
    if (batch_axis(t) >= 0) elements += element_count(block_shape(t, dims));
  }
  return elements;
}

std::int64_t Problem::flops() const {
  if (op->contraction) return 2 * output_elements() * reduced_extent();
  return elements() - output_elements();
}

std::int64_t shortest_telling_axis(const OpSpec& op, DType dtype) {
  if (!op.suite.empty()) return 1;  // a model's sums are its own
  if (is_sixteen_bit(dtype)) return 64;
  return op.contraction ? 16 : 8;
}

CaseName case_name(const Problem& p,
                   std::string_view relation,
                   std::vector<Trial> trials,
                   std::optional<Law> neighbour_law) {
  return {.op = p.op->name,
          .variant = p.variant->name,
          .relation = std::string(relation),
          .dtype = p.dtype,
          .dims = p.dims,
          .attributes = p.attributes,
          .trials = std::move(trials),
          .fill = p.law,
          .neighbour_law = neighbour_law,
          .seed = p.seed,
          .id = p.id};
}

std::string unknown_op(const std::string& name) {
  std::vector<std::string> known;
  for (const OpSpec& op : registry()) known.push_back(op.name);
  const std::string near = did_you_mean(name, known);
  return "unknown op '" + name + "'" +
         (near.empty() ? "; of a declared op also give its --op-spec FILE" : near);
}

Problem problem_of(const CaseName& name) {
  const OpSpec* op = find_op(name.op);
  if (op == nullptr) refuse("op", unknown_op(name.op));
  if (name.relation != kAccuracyRelation && find_relation(name.relation) == nullptr) {
    std::vector<std::string> known = relation_names();
    known.emplace_back(kAccuracyRelation);
    refuse("relation",
           "unknown relation '" + name.relation + "'" + did_you_mean(name.relation, known));
  }
  const Variant& variant = variant_of(name, *op);
  check_dims(name, *op, variant);
  if (std::ranges::find(op->dtypes, name.dtype) == op->dtypes.end()) {
    refuse("dtype", "'" + op->name + "' is not declared in " + std::string(bic::name(name.dtype)));
  }
  for (const auto& [attribute, value] : name.attributes) {
    if (!variant.attributes.contains(attribute)) {
      refuse("attributes", "'" + attribute + "' is no attribute of '" + op->name + "'");
    }
  }
  return {.op = op,
          .variant = &variant,
          .dtype = name.dtype,
          .dims = name.dims,
          .attributes = name.attributes,
          .law = name.fill,
          .seed = name.seed,
          .accuracy = name.relation == kAccuracyRelation,
          .id = name.id};
}

Inputs::Inputs(const Problem& problem) : problem_(problem) {
  Seed seed = problem.seed;
  if (problem.sweeps()) seed.value &= ~kShareBits;
  shapes_ = fill_problem_of(*problem.variant, problem.dtype, problem.dims, problem.law, seed);
  for (std::size_t i = 0; i < shapes_.operands.size(); ++i) {
    std::vector<std::byte>& bytes = common_.emplace_back();
    std::vector<double>& wide = common_wide_.emplace_back();
    if (!is_common(i)) continue;
    const std::int64_t n = element_count(shapes_.operands[i].shape);
    const TensorSpec& t = problem.variant->inputs[i];
    bytes.resize(n * element_size(t, problem.dtype));
    fill_input(*problem.variant, shapes_, problem.dims, i, SampleId{}, bytes);
    wide.resize(n);
    widen_input(t, problem.dtype, bytes, wide);
  }
}

SampleBytes Inputs::sample(SampleId id, std::optional<Law> law) const {
  FillProblem shapes = shapes_;
  if (law) shapes.law = *law;
  SampleBytes sample(shapes.operands.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (is_common(i)) continue;
    const TensorSpec& t = problem_.variant->inputs[i];
    sample[i].resize(element_count(shapes.operands[i].shape) * element_size(t, problem_.dtype));
    fill_input(*problem_.variant, shapes, problem_.dims, i, id, sample[i]);
  }
  // Neighbours are there to be company: trimming them would cost more than all else.
  if (is_trimmed(shapes.law) && id.value < kFirstNeighbour) trim(sample);
  return sample;
}

std::vector<std::vector<double>> Inputs::widened(const SampleBytes& sample) const {
  std::vector<std::vector<double>> values(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (is_common(i)) {
      values[i] = common_wide_[i];
      continue;
    }
    const TensorSpec& t = problem_.variant->inputs[i];
    values[i].resize(sample[i].size() / element_size(t, problem_.dtype));
    widen_input(t, problem_.dtype, sample[i], values[i]);
  }
  return values;
}

/// Trims the first reduced row of the first reduced operand for output element 0.
void Inputs::trim(SampleBytes& sample) const {
  const auto& operands = shapes_.operands;
  std::size_t input = 0;
  while (input < operands.size() && (operands[input].reduced.empty() || is_common(input))) ++input;
  if (input == operands.size()) return;
  std::vector<std::int64_t> row{0};
  std::int64_t stride = 1;
  std::vector<std::int64_t> strides(operands[input].shape.size());
  for (std::size_t a = strides.size(); a-- > 0; stride *= operands[input].shape[a]) {
    strides[a] = stride;
  }
  for (int axis : operands[input].reduced) {
    std::vector<std::int64_t> longer;
    for (std::int64_t at : row) {
      for (std::int64_t i = 0; i < operands[input].shape[axis]; ++i) {
        longer.push_back(at + i * strides[axis]);
      }
    }
    row = std::move(longer);
  }
  with_operands(sample, [&](Operands& o) {
    std::vector<double> block(o.values[input].begin(), o.values[input].end());
    const std::int64_t element[] = {0};
    bic::trim(
        problem_.law, block, row, problem_.output_dtype(), [&](std::span<const double> trial) {
          o.values[input] = trial;
          Wide y[1];
          problem_.op->reference->wide(o, problem_.output_dtype(), element, y);
          return y[0].hi;
        });
    narrow(problem_.dtype, block, sample[input]);
  });
}

}  // namespace bic
