#include "harness/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "generators/laws.h"
#include "harness/trace/op_case.h"
#include "results_schema/error.h"

namespace bic {
namespace {

TensorPair compare(const TracedRun& alone, std::size_t i, const TracedRun& batched, std::size_t j) {
  const TracedTensor &a = alone.tensors[i], &b = batched.tensors[j];
  TensorPair pair{i, j};
  pair.same_shape = a.dtype == b.dtype && a.shape == b.shape;
  pair.equal = pair.same_shape && std::ranges::equal(a.bytes, b.bytes);
  const auto dtype = parse_dtype(a.dtype);
  if (!pair.same_shape || !dtype) return pair;
  pair.difference = compare_bytes(*dtype, a.bytes, b.bytes);
  pair.distance = distance(*dtype, a.bytes, b.bytes);
  return pair;
}

/// Every tensor of the batched run with the one of its name.
std::vector<TensorPair> compare(const TracedRun& alone, const TracedRun& batched) {
  std::map<std::tuple<std::string, std::string, int>, std::size_t> place;
  for (std::size_t i = 0; i < alone.tensors.size(); ++i) {
    const TracedTensor& t = alone.tensors[i];
    place[{t.section, t.name, t.invocation}] = i;
  }
  std::vector<TensorPair> pairs;
  for (std::size_t j = 0; j < batched.tensors.size(); ++j) {
    const TracedTensor& t = batched.tensors[j];
    const auto at = place.find({t.section, t.name, t.invocation});
    if (at == place.end()) {
      throw HarnessError(fmt::format("trace: '{}' of {} is in one run only", t.name, t.section));
    }
    pairs.push_back(compare(alone, at->second, batched, j));
  }
  return pairs;
}

/// The case string of an op's call in the batch against its call on the sample alone.
void name_case(GuiltyOp& guilty, const SamplePlan& plan) {
  const auto found = op_case(guilty.batched);
  if (const auto* why = std::get_if<std::string>(&found)) {
    guilty.no_case = *why;
    return;
  }
  const OpCase& c = std::get<OpCase>(found);
  if (c.batch % plan.batch != 0) {
    guilty.no_case = "its batch is not that of the model";
    return;
  }
  const bool sweeps = c.op->laws.front() == Law::kSweep;  // of inputs that fit no such shape
  const Problem problem{c.op,
                        c.variant,
                        c.dtype,
                        c.dims,
                        c.attributes,
                        sweeps ? Law::kNormal : c.op->laws.front(),
                        {}};
  // Where the suite's sample is a row of the model's: the one that differs.
  const std::int64_t rows = c.batch / plan.batch;
  const auto& d = guilty.difference;
  const std::int64_t row = d && d->total >= rows ? d->first / (d->total / rows) : 0;
  const SampleId sample{static_cast<std::uint32_t>(plan.sample)};
  const Trial batched{.batch = c.batch, .position = plan.position * rows + row, .sample = sample};
  const Trial alone{.batch = rows, .position = row, .sample = sample};
  guilty.case_string = to_string(case_name(problem, "alone", {batched, alone}, {}));
}

GuiltyOp guilty_op(const TracedModel& model,
                   const SamplePlan& plan,
                   const DifferingOp& found,
                   const OwnOverloads& own) {
  const SamplePlan one{.sample = plan.sample};
  OpBlock alone = model.op(one, found.alone, found.block);
  OpBlock batched = model.op(plan, found.batched, found.block);
  GuiltyOp guilty{.alone = std::move(alone.op),
                  .batched = std::move(batched.op),
                  .block = found.block,
                  .only_alone = found.only_alone,
                  .only_batched = found.only_batched};
  guilty.own = is_own(guilty.batched, own);
  const TensorSight& y = guilty.batched.outputs[static_cast<std::size_t>(found.block.output)];
  const auto dtype = parse_dtype(y.dtype);
  if (dtype && alone.bytes.size() == batched.bytes.size()) {
    guilty.difference = compare_bytes(*dtype, alone.bytes, batched.bytes);
  }
  name_case(guilty, plan);
  return guilty;
}

Divergence diverges_at(const TracedModel& model,
                       const TraceResult& result,
                       std::size_t at,
                       const OwnOverloads& own) {
  const SamplePlan& plan = result.plan;
  const TracedTensor& t = result.batched.tensors[result.pairs[at].batched];
  Divergence first{.pair = at};
  if (t.op >= 0) {
    first.producer = result.batched.ops[static_cast<std::size_t>(t.op)];
    first.producer_own = is_own(*first.producer, own);
  }
  const auto found = first_differing(model.ops_before({.sample = plan.sample}, t.order),
                                     model.ops_before(plan, t.order),
                                     plan.batch);
  if (found) first.guilty = guilty_op(model, plan, *found, own);
  return first;
}

}  // namespace

Distance distance(DType dtype,
                  std::span<const std::byte> alone,
                  std::span<const std::byte> batched) {
  const std::size_t n = alone.size() / static_cast<std::size_t>(size_of(dtype));
  std::vector<double> r(n), o(n);
  widen(dtype, alone, r);
  widen(dtype, batched, o);
  return distance(r, o);
}

std::size_t TraceResult::differing() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pairs, [](const TensorPair& p) { return !p.equal; }));
}

TraceResult trace(const TracedModel& model,
                  const SamplePlan& plan,
                  const std::string& only,
                  const OwnOverloads& own) {
  TraceResult result{.plan = plan};
  result.alone = model.trace({.sample = plan.sample}, only);
  result.batched = model.trace(plan, only);
  if (result.batched.tensors.empty()) {
    throw UsageError(fmt::format(
        "--only '{}' names none of the {} tensors; a glob such as '*layer_1.pre_attn*' does",
        only,
        result.batched.recorded));
  }
  result.pairs = compare(result.alone, result.batched);
  const auto differs = std::ranges::find_if(result.pairs, [](const auto& p) { return !p.equal; });
  if (differs != result.pairs.end()) {
    const auto at = static_cast<std::size_t>(differs - result.pairs.begin());
    result.first = diverges_at(model, result, at, own);
  }
  return result;
}

}  // namespace bic
