#include "harness/run/perf.h"

#include <fmt/format.h>

#include <algorithm>

#include "results_schema/compare/speed.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

constexpr std::int64_t kRotatedBytes = 16 << 20;
constexpr std::int64_t kMostCopies = 16;
// More than any cache holds.
constexpr std::int64_t kColdBytes = 256 << 20;
constexpr std::int64_t kMostColdCopies = 64;
constexpr std::size_t kColdPairs = 5;

std::optional<std::int64_t> time_block(Stage& stage,
                                       const PlannedTrial& trial,
                                       const Timing& timing) {
  auto answer = stage.time(trial, timing);
  const auto* reply = std::get_if<protocol::TimeReply>(&answer);
  if (reply == nullptr || reply->outcome != protocol::Outcome::kRan) return {};
  return std::max<std::int64_t>(1, reply->nanoseconds / timing.calls);
}

/// Bytes of a batch's own inputs; common ones stay in the cache in real use too.
std::int64_t input_bytes(const Prepared& p, std::int64_t batch) {
  std::int64_t bytes = 0;
  for (const auto& input : p.pool->problem().inputs) bytes += input.pool_stride * batch;
  return bytes;
}

Timing timing_of(const TimedTrial& timed) {
  const std::int64_t own = input_bytes(*timed.prepared, timed.trial.trial.batch);
  const std::int64_t bytes = std::max<std::int64_t>(1, timed.cold ? bytes_moved(timed) : own);
  const std::int64_t rotated = timed.cold ? kColdBytes : kRotatedBytes;
  const std::int64_t most = timed.cold ? kMostColdCopies : kMostCopies;
  return {.calls = 1,
          .copies = static_cast<int>(std::clamp<std::int64_t>(rotated / bytes, 2, most)),
          .copies_common = timed.cold};
}

/// How a measurement is cut into blocks of the backend and as many of stock.
struct Cut {
  std::int64_t block_ns;
  std::size_t pairs;
};

/// Blocks much shorter than what other processes on the machine are given at a time: some fall
/// between them. To copy more than a cache holds for each would take longer than to time it.
Cut cut_of(const TimedTrial& timed) {
  return timed.cold ? Cut{3'000'000, kColdPairs} : Cut{300'000, report::kPairsOfOneMeasurement};
}

/// The timing of a block, by warm calls; empty when the worker cannot run them.
std::optional<Timing> block_of(Stage& stage, const TimedTrial& timed) {
  constexpr int kWarmCalls = 3;
  const std::int64_t length = cut_of(timed).block_ns;
  Timing timing = timing_of(timed);
  std::int64_t fastest = length;
  for (int i = 0; i < kWarmCalls; ++i) {
    const auto one_call = time_block(stage, timed.trial, timing);
    if (!one_call) return {};
    fastest = std::min(fastest, *one_call);
  }
  timing.calls = static_cast<int>(std::clamp<std::int64_t>(length / fastest, 1, 2000));
  return timing;
}

std::string shape_text(const Prepared& p, std::int64_t batch) {
  std::string text = fmt::format("B={}", batch);
  for (const auto& [dim, extent] : p.problem.dims) text += fmt::format(",{}={}", dim, extent);
  return p.problem.variant->name.empty() ? text : p.problem.variant->name + ":" + text;
}

/// A batch and nothing else: no layout, form or schedule of its own.
bool is_plain(const PlannedTrial& t) {
  const Trial& x = t.trial;
  return t == planned({.batch = x.batch, .position = x.position, .sample = x.sample}, {});
}

/// Timed calls must have computed what was judged, not something faster.
bool is_judged_output(const Stage& backend, const TimedTrial& timed) {
  const auto output = backend.output();
  const auto bytes = static_cast<std::size_t>(timed.judged.bytes);
  return output.size() >= bytes && sha256_hex(output.first(bytes)) == timed.judged.sha256;
}

}  // namespace

std::int64_t bytes_moved(const TimedTrial& timed) {
  const auto& inputs = timed.prepared->pool->problem().inputs;
  std::int64_t bytes = timed.judged.bytes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool common = inputs[i].pool_stride == 0;
    bytes += common ? static_cast<std::int64_t>(timed.prepared->inputs->common(i).size())
                    : inputs[i].pool_stride * timed.trial.trial.batch;
  }
  return bytes;
}

std::int64_t median(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::optional<PlannedTrial> trial_to_time(const Prepared& prepared) {
  std::optional<PlannedTrial> best;
  // Stock has no such op to time it against.
  if (!prepared.problem.op->declared_sha256.empty()) return best;
  // Two more processes would hold a full-size model's weights.
  if (prepared.problem.variant->on_request) return best;
  const auto consider = [&](const PlannedTrial& t) {
    constexpr std::int64_t kWanted = 33;
    const auto distance = [](const PlannedTrial& p) { return std::abs(p.trial.batch - kWanted); };
    if (is_plain(t) && (!best || distance(t) < distance(*best))) best = t;
  };
  for (const Case& c : prepared.cases) {
    consider(c.trial);
    if (c.against) consider(*c.against);
  }
  return best;
}

bool add_blocks(Stage& backend, Stage& stock, const TimedTrial& timed, Blocks& blocks) {
  backend.set(*timed.prepared);
  stock.set(*timed.prepared);
  const auto block = block_of(backend, timed), stock_block = block_of(stock, timed);
  if (!block || !stock_block) return false;
  for (std::size_t i = 0; i < cut_of(timed).pairs; ++i) {
    const auto ours = time_block(backend, timed.trial, *block);
    const auto theirs = time_block(stock, timed.trial, *stock_block);
    if (!ours || !theirs) return false;
    blocks.backend.push_back(*ours);
    blocks.stock.push_back(*theirs);
  }
  blocks.judged_output = blocks.judged_output && is_judged_output(backend, timed);
  return true;
}

report::Throughput throughput_of(const Blocks& blocks, const TimedTrial& timed) {
  const Prepared& p = *timed.prepared;
  report::Throughput t{.backend_ns = median(blocks.backend), .stock_ns = median(blocks.stock)};
  t.ratio_ppm = t.stock_ns * 1'000'000 / t.backend_ns;
  const auto [fastest, slowest] = std::ranges::minmax(blocks.backend);
  t.spread_ppm = (slowest - fastest) * 1'000'000 / t.backend_ns;
  for (std::size_t i = 0; i < blocks.backend.size(); ++i) {
    t.ratios_ppm.push_back(blocks.stock[i] * 1'000'000 / blocks.backend[i]);
  }
  t.backend_blocks_ns = blocks.backend;
  t.stock_blocks_ns = blocks.stock;
  t.shape = shape_text(p, timed.trial.trial.batch);
  t.unit = p.problem.op->contraction ? "flops" : "bytes";
  t.work = p.problem.op->contraction ? p.problem.flops() * timed.trial.trial.batch
                                     : input_bytes(p, timed.trial.trial.batch) + timed.judged.bytes;
  t.digest_matches = blocks.judged_output;
  return t;
}

}  // namespace bic
