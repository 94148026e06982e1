#include "harness/fake_worker/fake_backend.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "adapters/protocol/digest.h"
#include "adapters/protocol/gather.h"
#include "generators/laws.h"
#include "harness/judge/right_answer.h"
#include "results_schema/axis.h"
#include "results_schema/error.h"
#include "results_schema/shape.h"
#include "suites/ops/input_values.h"

namespace bic::fake {
namespace {

constexpr int kThreads = 2;  // the default team

/// Writes the block of a sample at `position` of the output's batch axis.
void put_block(const protocol::ProblemMessage& problem,
               std::span<const std::int64_t> shape,
               std::int64_t position,
               std::span<const std::byte> block,
               std::span<std::byte> output) {
  const auto& axes = problem.output.axes;
  std::size_t axis = 0;
  while (axis < axes.size() && !is_batch_axis(axes[axis])) ++axis;
  if (axis == axes.size()) throw HarnessError("the fake worker's outputs need a batch axis");
  const std::int64_t rows = axis_extent(axes[axis], problem.dims, 1);
  const std::int64_t outer = element_count(shape.first(axis));
  const std::int64_t inner =
      element_count(shape.subspan(axis + 1)) * protocol::element_size(problem.output.elements);
  for (std::int64_t o = 0; o < outer; ++o) {
    const std::int64_t to = (o * shape[axis] + position * rows) * inner;
    std::memcpy(output.data() + to, block.data() + o * rows * inner, rows * inner);
  }
}

}  // namespace

protocol::Hello FakeBackend::hello() {
  protocol::Hello hello{.backend = std::string(behaviour_.name),
                        .device = "cpu",
                        .fingerprint = {{"order", "sequential"}},
                        .default_threads = kThreads};
  for (const OpSpec& op : registry()) {
    if (!behaviour_.only_op.empty() && op.name != behaviour_.only_op) continue;
    protocol::ManifestEntry entry{
        .op = op.name, .dtypes = op.dtypes, .stock_reason = "plain loops"};
    for (DType t : op.dtypes) {
      const DType sums = t == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
      entry.arithmetic[t] = {.accumulator = sums, .source = "the op's own reference"};
    }
    if (behaviour_.claims_own_overload) {
      entry.own = {"fake::never"};
      entry.stock_reason.clear();
    }
    hello.manifest.push_back(std::move(entry));
  }
  if (behaviour_.answer != nullptr) hello.studies = {"decoder"};
  return hello;
}

void FakeBackend::load(const protocol::ProblemMessage& problem, std::span<const std::byte> pool) {
  problem_ = problem;
  op_ = find_op(problem.op);
  if (op_ == nullptr) throw HarnessError("the fake worker has no op '" + problem.op + "'");
  variant_ = &*std::ranges::find(op_->variants, problem.variant, &Variant::name);
  output_dtype_ = variant_->output_dtype.value_or(problem.dtype);
  pool_ = pool;
  samples_.clear();
  requests_.clear();
  orders_.clear();
  first_batch_ = 0;
}

protocol::TrialReply FakeBackend::run(const protocol::TrialMessage& trial,
                                      std::span<std::byte> output) {
  if (first_batch_ == 0) first_batch_ = static_cast<std::int64_t>(trial.slots.size());
  const Call call = note(trial);
  if (behaviour_.before != nullptr) behaviour_.before(call);
  protocol::TrialReply reply{.dtype = problem_.output.elements,
                             .shape = protocol::plan_tensor(problem_, problem_.output, trial).shape,
                             .witness = witness(trial)};
  const auto bytes = static_cast<std::size_t>(element_count(reply.shape) * size_of(output_dtype_));
  if (bytes > output.size()) throw HarnessError("the output's memory is too small");
  for (std::int64_t i = 0; i < call.batch(); ++i) {
    const bool otherwise = behaviour_.otherwise != nullptr && behaviour_.otherwise(call, i);
    const Order order = otherwise ? Order::kReversed : Order::kSequential;
    put_block(problem_, reply.shape, i, sample(trial.slots[i], order, trial.trial), output);
  }
  if (behaviour_.spoil != nullptr) behaviour_.spoil(call, reply, output.first(bytes));
  return reply;
}

Call FakeBackend::note(const protocol::TrialMessage& trial) {
  std::vector<std::uint32_t> sorted = trial.slots;
  std::ranges::sort(sorted);
  const auto [batch, new_batch] = orders_.try_emplace(sorted, trial.slots);
  const bool reordered = trial.slots.size() > 100 && batch->second != trial.slots;
  const bool added = requests_.insert({trial.slots, trial.trial, trial.threads}).second;
  return {problem_, trial, calls_++, first_batch_, !added, reordered};
}

const std::vector<std::byte>& FakeBackend::sample(std::uint32_t slot,
                                                  Order order,
                                                  const Trial& trial) {
  const auto [at, added] = samples_.try_emplace({slot, order, trial.pad});
  if (!added) return at->second;
  protocol::TrialMessage alone{.slots = {slot}, .trial = {}};
  alone.trial.pad_dim = trial.pad_dim;
  alone.trial.pad = trial.pad;
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < problem_.inputs.size(); ++i) values.push_back(operand(i, alone));
  if (behaviour_.drops_last_term) values[0].back() = 0;
  Operands operands{{}, problem_.dims, problem_.attributes};
  if (trial.pad > 0) operands.dims[trial.pad_dim] += trial.pad;
  for (const auto& v : values) operands.values.emplace_back(v);
  std::vector<std::int64_t> elements(
      element_count(protocol::plan_tensor(problem_, problem_.output, alone).shape));
  std::iota(elements.begin(), elements.end(), 0);
  std::vector<double> y(elements.size());
  if (behaviour_.evaluate != nullptr)
    behaviour_.evaluate(*op_, operands, output_dtype_, elements, y);
  else
    op_->reference->control(operands, output_dtype_, order, elements, y);
  at->second.resize(y.size() * static_cast<std::size_t>(size_of(output_dtype_)));
  narrow(output_dtype_, y, at->second);
  return at->second;
}

/// One input of one sample, row-major, padded as the trial says.
std::vector<double> FakeBackend::operand(std::size_t input,
                                         const protocol::TrialMessage& alone) const {
  const protocol::TensorMessage& t = problem_.inputs[input];
  const protocol::TensorPlan plan = protocol::plan_tensor(problem_, t, alone);
  std::vector<std::byte> bytes(plan.storage_elements * protocol::element_size(t.elements));
  protocol::gather(problem_, t, alone, pool_, plan, bytes.data());
  std::vector<double> values(plan.storage_elements);
  widen_input(variant_->inputs[input], problem_.dtype, bytes, values);
  return values;
}

/// What a library would have seen, had the inputs been laid out as asked.
protocol::Witness FakeBackend::witness(const protocol::TrialMessage& trial) const {
  protocol::Witness w{.input_digest = protocol::digest(std::as_bytes(std::span(trial.slots)), 0),
                      .form = std::string(name(trial.trial.form)),
                      .calls = calls_,
                      .gave_output = writes_given(trial.trial.form),
                      .largest_team = trial.threads};
  for (const protocol::TensorMessage& t : problem_.inputs) {
    const protocol::TensorPlan plan = protocol::plan_tensor(problem_, t, trial);
    w.address_mod_64.push_back(plan.offset * protocol::element_size(t.elements) % 64);
    w.strides.push_back(plan.strides);
    w.shapes.push_back(plan.shape);
  }
  return w;
}

protocol::TimeReply FakeBackend::time(const protocol::TimeMessage& request,
                                      std::span<std::byte> output) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < request.calls; ++i) run(request.trial, output);
  const auto taken = std::chrono::steady_clock::now() - start;
  return {.nanoseconds = std::chrono::nanoseconds(taken).count()};
}

nlohmann::json FakeBackend::study(const std::string&,
                                  const nlohmann::json& request,
                                  std::span<std::byte>) {
  report::DecoderAnswer answer = right_answer(request.get<report::DecoderQuestion>());
  behaviour_.answer(answer);
  return answer;
}

}  // namespace bic::fake
