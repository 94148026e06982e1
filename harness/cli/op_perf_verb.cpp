#include "harness/cli/op_perf_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/files/text_file.h"
#include "harness/run/op_perf.h"
#include "harness/workers/environment.h"
#include "harness/workers/interrupt.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using nlohmann::json;

constexpr double kMillion = 1e6;

/// Ratios to stock of one op and dtype.
struct Ratios {
  double sum_of_logarithms = 0, least = INFINITY;
  std::string slowest;
  int count = 0;

  void add(const report::Throughput& t) {
    const double ratio = static_cast<double>(t.ratio_ppm) / kMillion;
    sum_of_logarithms += std::log(ratio);
    ++count;
    if (ratio < least) least = ratio, slowest = t.shape;
  }
  double geometric_mean() const { return std::exp(sum_of_logarithms / count); }
};

json json_of(const OpCall& call, const OpTime& time, double share) {
  const report::Throughput& t = time.speed;
  return {{"op", call.shape->op->name},
          {"dtype", name(call.dtype)},
          {"shape", t.shape},
          {"batch_size", call.batch},
          {"backend_ns", t.backend_ns},
          {"stock_ns", t.stock_ns},
          {"ratio_to_stock_ppm", t.ratio_ppm},
          {"ratios_ppm", t.ratios_ppm},
          {"bytes", time.bytes},
          {"operations", time.operations},
          {"roofline_ppm", std::llround(share * kMillion)},
          {"judged_bits", t.digest_matches}};
}

std::string line_of(const OpCall& call, const OpTime& time, double share) {
  const report::Throughput& t = time.speed;
  const auto nanoseconds = static_cast<double>(t.backend_ns);
  const auto work = static_cast<double>(time.operations > 0 ? time.operations : time.bytes);
  return fmt::format(
      "{:<8} {:<5} {:<38} {:>10.2f} us {:>10.2f} us  {:>5.2f}x  {:>7.2f} {}  {:>3.0f} %{}",
      call.shape->op->name,
      name(call.dtype),
      t.shape,
      nanoseconds / 1e3,
      static_cast<double>(t.stock_ns) / 1e3,
      static_cast<double>(t.ratio_ppm) / kMillion,
      work / nanoseconds / (time.operations > 0 ? 1e3 : 1),
      time.operations > 0 ? "TFLOP/s" : "GB/s",
      share * 100,
      t.digest_matches ? "" : "  OTHER BITS than judged");
}

void show_means(const std::map<std::pair<std::string, DType>, Ratios>& all) {
  for (const auto& [row, r] : all) {
    fmt::print("{} {}: {:.2f}x stock in geometric mean of {} calls; least {:.2f}x at {}\n",
               row.first,
               name(row.second),
               r.geometric_mean(),
               r.count,
               r.least,
               r.slowest);
  }
}

std::vector<DType> dtypes_of(const std::vector<OpCall>& calls) {
  std::vector<DType> all;
  for (const OpCall& c : calls) {
    if (std::ranges::find(all, c.dtype) == all.end()) all.push_back(c.dtype);
  }
  return all;
}

/// Times call after call, and prints and keeps each.
class Timings {
 public:
  Timings(Stage& backend, Stage& stock, const std::vector<OpCall>& calls)
      : backend_(backend), stock_(stock), peaks_(measure_peaks(stock, dtypes_of(calls))) {}

  void show_head() const {
    const protocol::Hello& hello = backend_.hello();
    fmt::print(
        "{} on {}; stock reaches {:.0f} GB/s", hello.backend, hello.device, peaks_.bytes / 1e9);
    for (const auto& [dtype, peak] : peaks_.operations) {
      fmt::print(", {:.1f} TFLOP/s in {}", peak / 1e12, name(dtype));
    }
    fmt::print("\n{:<8} {:<5} {:<38} {:>13} {:>13}  {:>6}  {:>15}  of the roofline\n",
               "op",
               "dtype",
               "shape",
               "backend",
               "stock",
               "ratio",
               "");
  }

  void take(const OpCall& call) {
    const std::string& op = call.shape->op->name;
    std::string why;
    const auto time = time_call(backend_, stock_, call, why);
    if (!time) {
      fmt::print("{:<8} {:<5} B={}: {}\n", op, name(call.dtype), call.batch, why);
      return;
    }
    const double share = share_of_roofline(*time, call.dtype, peaks_);
    fmt::print("{}\n", line_of(call, *time, share));
    std::fflush(stdout);
    rows_.push_back(json_of(call, *time, share));
    ratios_[{op, call.dtype}].add(time->speed);
  }

  void show_means() const { bic::show_means(ratios_); }
  bool any() const { return !ratios_.empty(); }

  std::string text() const {
    const protocol::Hello& hello = backend_.hello();
    return json{{"version", suite_version()},
                {"backend", hello.backend},
                {"device", hello.device},
                {"fingerprint", hello.fingerprint},
                {"calls", rows_}}
               .dump(2) +
           "\n";
  }

 private:
  Stage& backend_;
  Stage& stock_;
  Peaks peaks_;
  json rows_ = json::array();
  std::map<std::pair<std::string, DType>, Ratios> ratios_;
};

/// False when a person ended it.
bool take_all(Timings& timings, const std::vector<OpCall>& calls) {
  try {
    for (const OpCall& call : calls) {
      if (interrupted()) return false;
      timings.take(call);
    }
    return true;
  } catch (const Interrupted&) {
    return false;
  }
}

}  // namespace

int perf_of_ops(const OpPerfOptions& options) {
  catch_interrupts();
  Stage backend(options.backend), stock(options.stock);
  Timings timings(backend, stock, options.calls);
  timings.show_head();
  const bool whole = take_all(timings, options.calls);
  timings.show_means();
  if (!options.json.empty()) write_text(options.json, timings.text());
  if (!whole) fmt::print("interrupted: what is above was measured\n");
  return static_cast<int>(whole && timings.any() ? ExitCode::kConforms : ExitCode::kUnproved);
}

}  // namespace bic
