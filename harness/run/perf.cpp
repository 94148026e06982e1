#include "harness/run/perf.h"

#include <fmt/format.h>

#include <algorithm>

#include "results_schema/compare/speed.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

constexpr std::int64_t kBlockNs = 3'000'000;  // of each of the two, so 30 ms a row
constexpr std::int64_t kRotatedBytes = 16 << 20;
constexpr std::int64_t kMostCopies = 16;

std::optional<std::int64_t> time_block(Stage& stage,
                                       const PlannedTrial& trial,
                                       int calls,
                                       int copies) {
  auto answer = stage.time(trial, calls, copies);
  const auto* reply = std::get_if<protocol::TimeReply>(&answer);
  if (reply == nullptr || reply->outcome != protocol::Outcome::kRan) return {};
  return std::max<std::int64_t>(1, reply->nanoseconds / calls);
}

int calls_for(std::int64_t one_call_ns) {
  return static_cast<int>(std::clamp<std::int64_t>(kBlockNs / one_call_ns, 1, 2000));
}

/// Bytes of a batch's own inputs; common ones stay in the cache in real use too.
std::int64_t input_bytes(const Prepared& p, std::int64_t batch) {
  std::int64_t bytes = 0;
  for (const auto& input : p.pool->problem().inputs) bytes += input.pool_stride * batch;
  return bytes;
}

int copies_for(const Prepared& p, std::int64_t batch) {
  const std::int64_t bytes = std::max<std::int64_t>(1, input_bytes(p, batch));
  return static_cast<int>(std::clamp<std::int64_t>(kRotatedBytes / bytes, 2, kMostCopies));
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
  const int copies = copies_for(*timed.prepared, timed.trial.trial.batch);
  const auto warm = time_block(backend, timed.trial, 1, copies);
  const auto warm_stock = time_block(stock, timed.trial, 1, copies);
  if (!warm || !warm_stock) return false;
  for (std::size_t i = 0; i < report::kPairsOfOneMeasurement; ++i) {
    const auto ours = time_block(backend, timed.trial, calls_for(*warm), copies);
    const auto theirs = time_block(stock, timed.trial, calls_for(*warm_stock), copies);
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
  t.shape = shape_text(p, timed.trial.trial.batch);
  t.unit = p.problem.op->contraction ? "flops" : "bytes";
  t.work = p.problem.op->contraction ? p.problem.flops() * timed.trial.trial.batch
                                     : input_bytes(p, timed.trial.trial.batch) + timed.judged.bytes;
  t.digest_matches = blocks.judged_output;
  return t;
}

}  // namespace bic
