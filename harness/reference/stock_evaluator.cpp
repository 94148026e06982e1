#include "harness/reference/stock_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "adapters/protocol/gather.h"
#include "adapters/protocol/usable_cores.h"
#include "generators/laws.h"
#include "harness/workers/start_worker.h"
#include "results_schema/shape.h"
#include "suites/ops/input_values.h"

namespace bic {
namespace {

using protocol::ProblemMessage;

constexpr int kMostKills = 3;  // by something else, in one evaluation

/// Every input has its place in the pool, common ones too: the worker keeps what it takes for
/// common from one trial to the next, and here each trial brings other values.
ProblemMessage message_of(const StockCall& call, const Variant& variant) {
  constexpr std::int64_t kAlignment = 64;
  ProblemMessage m;
  m.op = call.op;
  m.dtype = call.dtype;
  m.dims = call.dims;
  m.attributes = call.attributes;
  m.calls["functional"] = call.text;
  m.reduced = variant.reduced;
  for (const TensorSpec& t : variant.inputs) {
    const std::int64_t bytes = std::max<std::int64_t>(1, element_count(block_shape(t, call.dims))) *
                               element_size(t, call.dtype);
    const std::int64_t room = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    m.inputs.push_back({.name = t.name,
                        .axes = t.axes,
                        .elements = element_name(t, call.dtype),
                        .pool_offset = m.pool_bytes,
                        .pool_stride = room});
    m.pool_bytes += room;
  }
  m.output = {.name = variant.output.name,
              .axes = variant.output.axes,
              .elements = std::string(name(call.dtype))};
  m.output_bytes =
      2 * element_count(block_shape(variant.output, call.dims)) * size_of(call.dtype) + 4096;
  return m;
}

void write(const TensorSpec& t, DType dtype, std::span<const double> values, std::byte* to) {
  if (t.elements == Elements::kValues) {
    return narrow(dtype, values, {to, values.size() * static_cast<std::size_t>(size_of(dtype))});
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto index = static_cast<std::int64_t>(values[i]);
    if (t.elements == Elements::kBools) {
      to[i] = std::byte{index != 0};
    } else {
      std::memcpy(to + i * sizeof index, &index, sizeof index);
    }
  }
}

}  // namespace

/// One sample alone.
protocol::TrialMessage StockEvaluator::alone() const {
  return {.slots = {0}, .trial = {}, .threads = use_.threads};
}

void StockEvaluator::refuse(const StockCall& call, const std::string& what) const {
  throw UsageError(fmt::format("{}: op '{}': {}: {}", use_.blame, call.op, call.what, what));
}

/// A seat in use; given back when it ends.
class StockEvaluator::Taken {
 public:
  Taken(StockEvaluator& of, const StockCall& call) : of_(of), seat_(of.take(call)) {}
  ~Taken() {
    const std::lock_guard lock(of_.mutex_);
    seat_.taken = false;
    of_.changed_.notify_one();
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  Seat& seat() { return seat_; }

 private:
  StockEvaluator& of_;
  Seat& seat_;
};

/// A free seat that has the call loaded; else a new one, while there may be more; else any free
/// one.
StockEvaluator::Seat& StockEvaluator::take(const StockCall& call) {
  const auto most = use_.processes > 0
                        ? static_cast<std::size_t>(use_.processes)
                        : std::clamp<std::size_t>(static_cast<std::size_t>(usable_cores()), 2, 4);
  std::unique_lock lock(mutex_);
  while (true) {
    Seat* free = nullptr;
    for (const auto& seat : seats_) {
      if (seat->taken) continue;
      if (free == nullptr || seat->loaded == call) free = seat.get();
    }
    if ((free == nullptr || !(free->loaded == call)) && seats_.size() < most) {
      free = seats_.emplace_back(std::make_unique<Seat>()).get();
    }
    if (free != nullptr) {
      free->taken = true;
      return *free;
    }
    changed_.wait(lock);
  }
}

std::optional<Death> StockEvaluator::load(Seat& seat,
                                          const StockCall& call,
                                          const Variant& variant) {
  if (seat.worker == nullptr) seat.worker = start_worker(stock_);
  seat.loaded = {};
  seat.problem = message_of(call, variant);
  seat.pool = protocol::SharedMemory::create(seat.problem.pool_bytes);
  try {
    if (auto death = seat.worker->load(seat.problem, seat.pool)) return death;
  } catch (const HarnessError& e) {  // what the text names and ATen has not
    refuse(call, e.what());
  }
  seat.loaded = call;
  return {};
}

StockEvaluator::Answer StockEvaluator::ask(Seat& seat,
                                           const StockCall& call,
                                           const Variant& variant,
                                           std::span<const std::span<const double>> inputs) {
  if (!(seat.loaded == call)) {
    if (auto death = load(seat, call, variant)) return std::move(*death);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    write(variant.inputs[i],
          call.dtype,
          inputs[i],
          seat.pool.bytes().data() + seat.problem.inputs[i].pool_offset);
  }
  return seat.worker->run(alone());
}

std::vector<double> StockEvaluator::evaluate(const StockCall& call,
                                             const Variant& variant,
                                             std::span<const std::span<const double>> inputs) {
  Taken taken(*this, call);
  Seat& seat = taken.seat();
  for (int kills = 1;; ++kills) {
    const Answer answer = ask(seat, call, variant, inputs);
    const Death* const death = std::get_if<Death>(&answer);
    if (death == nullptr) return values_of(seat, call, std::get<protocol::TrialReply>(answer));
    seat.worker.reset();
    seat.loaded = {};
    const std::string line = "stock died of it: " + death->message;
    if (!death->killed_by_others) refuse(call, line);
    if (kills == kMostKills)
      throw HarnessError(fmt::format("{}: op '{}': {}", use_.blame, call.op, line));
  }
}

std::vector<double> StockEvaluator::values_of(const Seat& seat,
                                              const StockCall& call,
                                              const protocol::TrialReply& reply) const {
  if (reply.outcome != protocol::Outcome::kRan) refuse(call, reply.message);
  const auto expected = protocol::plan_tensor(seat.problem, seat.problem.output, alone()).shape;
  if (reply.shape != expected) {
    refuse(call,
           fmt::format("its result has shape [{}], the output [{}]",
                       fmt::join(reply.shape, ","),
                       fmt::join(expected, ",")));
  }
  const auto dtype = parse_dtype(reply.dtype);
  if (!dtype) refuse(call, fmt::format("its result is {}, no floating-point type", reply.dtype));
  std::vector<double> values(static_cast<std::size_t>(element_count(reply.shape)));
  const auto bytes = values.size() * static_cast<std::size_t>(size_of(*dtype));
  widen(*dtype, seat.worker->output().first(bytes), values);
  return values;
}

void StockEvaluator::release() {
  const std::lock_guard lock(mutex_);
  for (const auto& seat : seats_) {
    if (seat->taken) continue;
    seat->worker.reset();
    seat->loaded = {};
  }
}

}  // namespace bic
