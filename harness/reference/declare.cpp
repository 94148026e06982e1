#include "harness/reference/declare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/plan/op_spec_file.h"
#include "harness/plan/plan.h"
#include "harness/plan/telling.h"
#include "harness/reference/declared_reference.h"
#include "harness/reference/model_reference.h"
#include "harness/reference/model_weights.h"
#include "suites/ops/declarations.h"

namespace bic {
namespace {

constexpr int kShortProblems = 8;  // one for each of the short lengths of accuracy problems
constexpr std::int64_t kElements = 64;

/// What the reference says of one sample's elements.
struct Said {
  std::vector<Wide> oracle;
  std::vector<double> bound;
};

Said ask(const Problem& p, const Operands& operands, std::span<const std::int64_t> elements) {
  const Arithmetic honest{.accumulator = p.output_dtype() == DType::kFloat64 ? DType::kFloat64
                                                                             : DType::kFloat32};
  Said said{.oracle = std::vector<Wide>(elements.size()),
            .bound = std::vector<double>(elements.size())};
  p.op->reference->wide(operands, p.output_dtype(), elements, said.oracle);
  p.op->reference->bound(operands, p.output_dtype(), honest, elements, said.bound);
  return said;
}

[[noreturn]] void refuse(const Problem& p, const char* order, double error, double bound) {
  std::vector<std::string> dims;
  for (const auto& [dim, extent] : p.dims) dims.push_back(fmt::format("{}={}", dim, extent));
  throw UsageError(fmt::format(
      "--op-spec: op '{}': bound: stock's own evaluation in {} (terms {}, law {}, {}) is off by "
      "{:.3g}, the bound is {:.3g}; claim more roundings or a larger bound.magnitude, and name in "
      "'reduced' only what may be summed in any order",
      p.op->name,
      name(p.dtype),
      order,
      name(p.law),
      fmt::join(dims, " "),
      error,
      bound));
}

/// Whether honest evaluations hold the bound on sample 0.
void check_problem(const Problem& p) {
  struct NamedOrder {
    Order order;
    const char* name;
  };
  constexpr NamedOrder kOrders[] = {{Order::kSequential, "in order"},
                                    {Order::kReversed, "reversed"},
                                    {Order::kHalves, "with halves interleaved"},
                                    {Order::kLanes16, "in 16 lanes"}};
  const Inputs inputs(p);
  const auto elements = spread_elements(p.output_elements(), kElements);
  inputs.with_operands(inputs.sample(SampleId{0}), [&](const Operands& operands) {
    const Said said = ask(p, operands, elements);
    std::vector<double> y(elements.size());
    for (const auto& [order, order_name] : kOrders) {
      p.op->reference->control(operands, p.output_dtype(), order, elements, y);
      for (std::size_t i = 0; i < y.size(); ++i) {
        if (!std::isfinite(said.oracle[i].hi) || !std::isfinite(said.bound[i])) continue;
        const double error = std::fabs(y[i] - said.oracle[i].hi);
        if (!(error <= said.bound[i])) refuse(p, order_name, error, said.bound[i]);
      }
    }
  });
}

void check_op(const OpSpec& op) {
  const Seed seed = derive(Seed{}, op.declared_sha256);
  const Variant& v = op.variants[0];
  for (const DType dtype : op.dtypes) {
    for (int i = 0; i < kShortProblems; ++i) {
      const Law law = op.accuracy_laws[static_cast<std::size_t>(i) % op.accuracy_laws.size()];
      check_problem(draw({&op, &v, dtype, law, i, true}, seed, {}, 0));
    }
    check_problem(draw({&op, &v, dtype, op.accuracy_laws[0], 0, false}, seed, {}, 0));
  }
}

}  // namespace

void declare_ops(const std::vector<std::string>& files, const WorkerLaunch& stock) {
  const auto evaluator = std::make_shared<StockEvaluator>(stock);
  for (const std::string& file : files) {
    OpSpecFile spec = read_op_spec(file);
    spec.op.reference = declared_reference(spec, evaluator);
    declare_op(std::move(spec.op));
  }
}

void declare_models(const WorkerLaunch& stock, const std::optional<report::ModelWeights>& weights) {
  OpSpec op = ops::pi0();
  if (weights) take_weights(op, *weights);
  op.reference = model_reference(op, stock);
  declare_op(std::move(op));
}

void check_declared_ops() {
  for (const OpSpec& op : registry()) {
    if (!op.declared_sha256.empty()) check_op(op);
  }
}

}  // namespace bic
