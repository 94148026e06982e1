#include "harness/run/op_perf.h"

#include <algorithm>

#include "harness/plan/prepare.h"
#include "harness/workers/torch_launch.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

constexpr Seed kSeed{0xb1c0};
constexpr double kNanosecondsInSecond = 1e9;

/// A call of one problem, with its output on the backend; nothing where that does not run.
std::optional<TimedTrial> judged_call(Stage& stage, const OpCall& call, std::string& why) {
  const ProblemPlan plan{.op = call.shape->op,
                         .variant = call.variant,
                         .dtype = call.dtype,
                         .law = call.shape->op->laws.front(),
                         .shape = call.shape};
  TimedTrial timed{.prepared = prepare_to_time(plan, call.batch, kSeed), .cold = true};
  timed.trial = timed.prepared->cases.front().trial;
  stage.set(*timed.prepared);
  const TrialResult result = stage.run(timed.trial);
  if (result.death || result.reply.outcome != protocol::Outcome::kRan) {
    why = "it does not run: " + (result.death ? result.death->message : result.reply.message);
    return {};
  }
  timed.judged = {sha256_hex(result.output), static_cast<std::int64_t>(result.output.size())};
  return timed;
}

/// A row of the suite's own, for a peak.
ShapeRow large(const char* op, Dims dims, std::int64_t batch) {
  ShapeRow row;
  row.op = find_op(op);
  row.dims = std::move(dims);
  row.batches = {batch};
  return row;
}

/// Seconds of the fastest block of a call on stock; 0 where it does not run.
double fastest_on(Stage& stock, const ShapeRow& row, DType dtype, OpTime& time) {
  const OpCall call{&row, variants_of(row).front(), dtype, row.batches.front()};
  std::string why;
  const auto timed = judged_call(stock, call, why);
  Blocks blocks;
  if (!timed || !add_blocks(stock, stock, *timed, blocks)) return 0;
  time.bytes = bytes_moved(*timed);
  time.operations = timed->prepared->problem.flops() * call.batch;
  const auto fastest = std::min(std::ranges::min(blocks.backend), std::ranges::min(blocks.stock));
  return static_cast<double>(fastest) / kNanosecondsInSecond;
}

}  // namespace

std::vector<OpCall> op_calls(const std::vector<ShapeRow>& rows,
                             const std::vector<DType>& dtypes,
                             const std::vector<std::int64_t>& batches) {
  std::vector<OpCall> calls;
  for (const ShapeRow& row : rows) {
    for (const DType dtype : row.dtypes.empty() ? row.op->dtypes : row.dtypes) {
      if (std::ranges::find(dtypes, dtype) == dtypes.end()) continue;
      for (const Variant* variant : variants_of(row)) {
        for (const std::int64_t batch : batches.empty() ? row.batches : batches) {
          calls.push_back({&row, variant, dtype, batch});
        }
      }
    }
  }
  return calls;
}

Peaks measure_peaks(Stage& stock, const std::vector<DType>& dtypes) {
  const std::int64_t side = is_cuda(stock.hello().device) ? 4096 : 1024;
  const std::int64_t elements = 1 << 21;
  Peaks peaks;
  OpTime time;
  constexpr std::int64_t kRows = 16;
  const double of_sum =
      fastest_on(stock, large("add", {{"h", elements}}, kRows), DType::kFloat32, time);
  if (of_sum > 0) peaks.bytes = static_cast<double>(time.bytes) / of_sum;
  for (const DType dtype : dtypes) {
    const double of_product =
        fastest_on(stock, large("mm", {{"k", side}, {"n", side}}, side), dtype, time);
    if (of_product > 0) {
      peaks.operations[dtype] = static_cast<double>(time.operations) / of_product;
    }
  }
  return peaks;
}

std::optional<OpTime> time_call(Stage& backend,
                                Stage& stock,
                                const OpCall& call,
                                std::string& why) {
  const auto timed = judged_call(backend, call, why);
  if (!timed) return {};
  Blocks blocks;
  if (!add_blocks(backend, stock, *timed, blocks)) {
    why = "it cannot be timed on both";
    return {};
  }
  const bool product = call.shape->op->contraction;
  return OpTime{throughput_of(blocks, *timed),
                bytes_moved(*timed),
                product ? timed->prepared->problem.flops() * call.batch : 0};
}

double share_of_roofline(const OpTime& time, DType dtype, const Peaks& peaks) {
  const auto seconds = [](std::int64_t work, double peak) {
    return peak > 0 ? static_cast<double>(work) / peak : 0;
  };
  const auto at = peaks.operations.find(dtype);
  const double least =
      std::max(seconds(time.bytes, peaks.bytes),
               seconds(time.operations, at == peaks.operations.end() ? 0 : at->second));
  return least * kNanosecondsInSecond / static_cast<double>(time.speed.backend_ns);
}

}  // namespace bic
