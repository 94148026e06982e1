// The laws that prove bits do so: on their inputs the controls of each op can be told apart.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "generators/laws.h"
#include "suites/ops/op_spec.h"

namespace bic {
namespace {

const Dims kDims{{"k", 256}, {"h", 256}, {"n", 5}, {"m", 2}, {"t", 2}, {"s", 2}, {"p", 3}};
constexpr std::uint32_t kSamples = 100;

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// The dims that the variant's tensors name.
Dims dims_of(const Variant& variant) {
  Dims dims;
  for (const TensorSpec& t : variant.inputs) {
    for (std::string axis : t.axes) {
      if (axis.ends_with("*B")) axis.resize(axis.size() - 2);
      if (kDims.contains(axis)) dims[axis] = kDims.at(axis);
    }
  }
  return dims;
}

/// One sample's inputs, in double.
class Inputs {
 public:
  Inputs(const OpSpec& op, const Variant& variant, DType dtype, Law law, std::uint32_t id)
      : op_(op), dims_(dims_of(variant)), attributes_(variant.attributes) {
    FillProblem problem{dtype, law, Seed{77}, {}};
    for (const TensorSpec& t : variant.inputs) {
      problem.operands.push_back(
          {t.name, block_shape(t, dims_), reduced_axes(t, variant), batch_axis(t) < 0});
    }
    for (std::size_t i = 0; i < variant.inputs.size(); ++i) {
      std::vector<double>& values = values_.emplace_back(product(problem.operands[i].shape));
      std::vector<std::byte> bytes(values.size() * size_of(dtype));
      fill(problem, i, SampleId{id}, bytes);
      widen(dtype, bytes, values);
    }
    if (law == Law::kEdge) trim(dtype);
  }

  Operands operands() const {
    Operands all{{}, dims_, attributes_};
    for (const auto& v : values_) all.values.emplace_back(v);
    return all;
  }

 private:
  /// Rows are contiguous in the variants used here.
  void trim(DType dtype) {
    std::vector<std::int64_t> row(kDims.at("h"));
    std::iota(row.begin(), row.end(), 0);
    Operands all = operands();
    std::vector<double> block = values_[0];
    const std::int64_t first[] = {0};
    trim_to_edge(block, row, dtype, [&](std::span<const double> tried) {
      all.values[0] = tried;
      Wide y[1];
      op_.reference->wide(all, dtype, first, y);
      return y[0].hi;
    });
    values_[0] = block;
  }

  const OpSpec& op_;
  Dims dims_;
  Attributes attributes_;
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
    const std::int64_t outputs = product(block_shape(variant.output, dims_of(variant)));
    count += control(op, inputs, dtype, a, outputs) != control(op, inputs, dtype, b, outputs);
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
    for (const Variant& v : op.variants) {
      const bool contiguous = v.name != "middle";
      for (DType dtype : kAllDTypes) {
        if (contiguous || op.laws[0] != Law::kEdge) all.push_back({&op, &v, dtype});
      }
    }
  }
  return all;
}

class StrongestLaw : public testing::TestWithParam<LawCase> {};

TEST_P(StrongestLaw, TellsEveryPairOfControlsApart) {
  const auto& [op, variant, dtype] = GetParam();
  if (op->control == ControlKind::kTail) {
    // In 16 bits all inputs are swept; elsewhere any sample must do.
    const Law law = size_of(dtype) == 2 ? Law::kSweep : Law::kNormal;
    EXPECT_GE(told_apart(*op, *variant, dtype, law, Order::kSequential, Order::kReversed), 3);
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
