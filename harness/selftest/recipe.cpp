#include "harness/selftest/recipe.h"

#include <algorithm>
#include <cmath>

#include "harness/judge/compare.h"
#include "harness/judge/judging.h"

namespace bic {
namespace {

constexpr int kProblems = 6;
constexpr std::int64_t kBatches[] = {2, 8, 32, 128};

struct Tolerance {
  double relative, absolute;
};

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return {1.3e-6, 1e-5};
    case DType::kBFloat16:
      return {1.6e-2, 1e-5};
    case DType::kFloat16:
      return {1e-3, 1e-5};
    case DType::kFloat64:
      return {1e-7, 1e-7};
  }
  return {};
}

bool ran(const TrialResult& r) {
  return !r.death && !r.blocked && r.reply.outcome == protocol::Outcome::kRan;
}

/// The first row, widened.
std::vector<double> first_row(const Problem& p, const TrialResult& r) {
  const TensorSpec& y = p.variant->output;
  const int axis = batch_axis(y);
  const DType dtype = p.output_dtype();
  const auto bytes =
      block_of(r.output, r.reply.shape, axis, block_shape(y, p.dims), 0, size_of(dtype));
  std::vector<double> values(bytes.size() / static_cast<std::size_t>(size_of(dtype)));
  widen(dtype, bytes, values);
  return values;
}

bool close(const std::vector<double>& a, const std::vector<double>& b, Tolerance t) {
  return std::ranges::equal(a, b, [t](double x, double y) {
    const bool finite = std::isfinite(x) && std::isfinite(y);
    return x == y || (finite && std::fabs(x - y) <= t.absolute + t.relative * std::fabs(y));
  });
}

/// Whether the recipe fails on this problem with that batch.
bool fails(Stage& stage, const Problem& problem, std::int64_t batch, Hunt& h) {
  const SampleId sample{0};
  const auto p = prepare_case(
      case_name(problem, "alone", {{.batch = batch, .sample = sample}, {.sample = sample}}, {}));
  stage.set(*p);
  const TrialResult many = stage.run(p->cases[0].trial), one = stage.run(*p->cases[0].against);
  ++h.ops.back().judged;
  const DType dtype = problem.output_dtype();
  const auto right = [&](const TrialResult& r) {
    return ran(r) && r.reply.dtype == name(dtype) &&
           r.reply.shape.size() == problem.variant->output.axes.size();
  };
  const bool held = right(many) && right(one) &&
                    close(first_row(problem, many), first_row(problem, one), tolerance_of(dtype));
  if (!held) {
    h.ops.back().kill = Kill{p->cases[0].name, std::string(kRecipe)};
    ++h.kills[{problem.law, std::string(kRecipe)}];
  }
  return !held;
}

bool seen_in(const OpSpec& op, DType dtype, Stage& stage, const HuntOptions& options, Hunt& h) {
  for (int i = 0; i < kProblems; ++i) {
    const Variant& v = op.variants[static_cast<std::size_t>(i) % op.variants.size()];
    const Problem problem = draw({&op, &v, dtype, Law::kNormal, i}, options.seed, {}, 0);
    if (batch_axis(v.output) < 0) continue;
    for (std::int64_t batch : kBatches) {
      if (options.stopped() || fails(stage, problem, batch, h)) return true;
    }
  }
  return false;
}

}  // namespace

Hunt recipe_hunt(const faults::Fault& fault,
                 const WorkerLaunch& launch,
                 const HuntOptions& options) {
  Hunt h{.fault = &fault, .seed = options.seed, .ops = {}, .kills = {}};
  Stage stage(launch);
  for (const OpSpec* op : ops_of(fault, options)) {
    h.ops.push_back({.op = op->name, .kill = {}});
    for (DType dtype : fault.dtypes) {
      if (std::ranges::find(op->dtypes, dtype) == op->dtypes.end()) continue;
      if (seen_in(*op, dtype, stage, options, h)) break;
    }
  }
  return h;
}

}  // namespace bic
