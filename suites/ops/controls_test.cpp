// The laws that prove bits do so: on their inputs the controls of each op can be told apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "generators/laws.h"
#include "suites/ops/input_values.h"
#include "suites/ops/op_spec.h"

namespace bic {
namespace {

constexpr std::uint32_t kSamples = 100;

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// The dims that the variant's tensors name: long where they are summed over, else short.
Dims dims_of(const OpSpec& op, const Variant& variant) {
  Dims dims;
  for (const DimRange& r : op.dims) {
    const bool summed = !variant.reduced.empty() && variant.reduced.back() == r.name;
    if (mentions(variant, r.name)) {
      dims[r.name] = std::clamp<std::int64_t>(summed || op.dims.size() == 1 ? 256 : 3, r.lo, r.hi);
    }
  }
  return dims;
}

/// One sample's inputs, in double.
class Inputs {
 public:
  Inputs(const OpSpec& op, const Variant& variant, DType dtype, Law law, std::uint32_t id)
      : op_(op),
        dims_(dims_of(op, variant)),
        attributes_(variant.attributes),
        shapes_(fill_problem_of(variant, dtype, dims_, law, Seed{77})) {
    for (std::size_t i = 0; i < variant.inputs.size(); ++i) {
      const TensorSpec& t = variant.inputs[i];
      std::vector<double>& values = values_.emplace_back(product(shapes_.operands[i].shape));
      std::vector<std::byte> bytes(values.size() * element_size(t, dtype));
      fill_input(variant, shapes_, dims_, i, SampleId{id}, bytes);
      widen_input(t, dtype, bytes, values);
    }
    if (is_trimmed(law)) trim(dtype);
  }

  Operands operands() const {
    Operands all{{}, dims_, attributes_};
    for (const auto& v : values_) all.values.emplace_back(v);
    return all;
  }

 private:
  void trim(DType dtype) {
    std::size_t input = 0;
    while (shapes_.operands[input].reduced.empty()) ++input;
    const std::vector<std::int64_t> row = first_row(shapes_.operands[input]);
    Operands all = operands();
    std::vector<double> block = values_[input];
    const std::int64_t first[] = {0};
    bic::trim(shapes_.law, block, row, dtype, [&](std::span<const double> tried) {
      all.values[input] = tried;
      Wide y[1];
      op_.reference->wide(all, dtype, first, y);
      return y[0].hi;
    });
    values_[input] = block;
  }

  /// Indices of the elements that the first output reduces.
  static std::vector<std::int64_t> first_row(const OperandShape& operand) {
    std::vector<std::int64_t> row{0};
    for (int axis : operand.reduced) {
      std::int64_t stride = 1;
      for (std::size_t a = axis + 1; a < operand.shape.size(); ++a) stride *= operand.shape[a];
      std::vector<std::int64_t> longer;
      for (std::int64_t at : row) {
        for (std::int64_t i = 0; i < operand.shape[axis]; ++i) longer.push_back(at + i * stride);
      }
      row = std::move(longer);
    }
    return row;
  }

  const OpSpec& op_;
  Dims dims_;
  Attributes attributes_;
  FillProblem shapes_;
  std::vector<std::vector<double>> values_;
};

std::vector<double> control(
    const OpSpec& op, const Inputs& inputs, DType dtype, Order order, std::int64_t count) {
  std::vector<std::int64_t> elements(count);
  std::iota(elements.begin(), elements.end(), 0);
  std::vector<double> y(count);
  op.reference->control(inputs.operands(), dtype, order, elements, y);
  return y;
}

/// Samples on which two orders differ, of `kSamples`.
int told_apart(const OpSpec& op, const Variant& variant, DType dtype, Law law, Order a, Order b) {
  int count = 0;
  for (std::uint32_t id = 0; id < kSamples; ++id) {
    const Inputs inputs(op, variant, dtype, law, id);
    const std::int64_t outputs = product(block_shape(variant.output, dims_of(op, variant)));
    const DType result = variant.output_dtype.value_or(dtype);
    count += control(op, inputs, result, a, outputs) != control(op, inputs, result, b, outputs);
  }
  return count;
}

struct LawCase {
  const OpSpec* op;
  const Variant* variant;
  DType dtype;
};

void PrintTo(const LawCase& c, std::ostream* out) { *out << c.op->name << ' ' << name(c.dtype); }

std::vector<LawCase> law_cases() {
  std::vector<LawCase> all;
  for (const OpSpec& op : registry()) {
    if (op.control != ControlKind::kOrder && op.control != ControlKind::kTail) continue;
    for (const Variant& v : op.variants) {
      for (DType dtype : op.dtypes) {
        // In 16 bits all inputs of a pointwise op are swept: nothing needs to be told apart.
        const bool swept = op.control == ControlKind::kTail && size_of(dtype) == 2;
        if (!swept) all.push_back({&op, &v, dtype});
      }
    }
  }
  return all;
}

class StrongestLaw : public testing::TestWithParam<LawCase> {};

TEST_P(StrongestLaw, TellsEveryPairOfControlsApart) {
  const auto& [op, variant, dtype] = GetParam();
  if (op->control == ControlKind::kTail) {
    EXPECT_GE(told_apart(*op, *variant, dtype, Law::kNormal, Order::kSequential, Order::kReversed),
              3);
    return;
  }
  for (std::size_t i = 0; i < kControlOrders.size(); ++i) {
    for (std::size_t j = i + 1; j < kControlOrders.size(); ++j) {
      EXPECT_GE(told_apart(*op, *variant, dtype, op->laws[0], kControlOrders[i], kControlOrders[j]),
                3)
          << "orders " << i << " and " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         StrongestLaw,
                         testing::ValuesIn(law_cases()),
                         [](const auto& info) {
                           const std::string& variant = info.param.variant->name;
                           return info.param.op->name + (variant.empty() ? "" : "_" + variant) +
                                  "_" + std::string(name(info.param.dtype));
                         });

// Exact sums are the same in every order: this check can fail.
TEST(ExactLaw, TellsNoControlsApart) {
  const OpSpec& op = *find_op("mm");
  EXPECT_EQ(
      told_apart(
          op, op.variants[0], DType::kFloat32, Law::kIntegers, Order::kReversed, Order::kLanes16),
      0);
}

}  // namespace
}  // namespace bic
