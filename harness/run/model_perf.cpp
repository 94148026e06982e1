#include "harness/run/model_perf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "generators/laws.h"
#include "harness/judge/distance.h"
#include "harness/run/perf.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using nlohmann::json;

constexpr std::size_t kRoom = 1 << 20;  // the largest action of a preset has 13 kB

/// The members of the posts' blocks, by their names.
constexpr std::pair<const char*, double PostMetrics::*> kMetrics[] = {
    {"max_abs_diff", &PostMetrics::max_abs_diff},
    {"mean_abs_diff", &PostMetrics::mean_abs_diff},
    {"rmse", &PostMetrics::rmse},
    {"relative_l2_mean", &PostMetrics::relative_l2_mean},
    {"relative_l2_max", &PostMetrics::relative_l2_max},
    {"output_abs_max", &PostMetrics::output_abs_max}};

std::vector<std::int64_t> times(const std::vector<TimedPass>& passes) {
  std::vector<std::int64_t> all;
  for (const TimedPass& p : passes) all.push_back(p.nanoseconds);
  return all;
}

double mean(const std::vector<std::int64_t>& all) {
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

/// Of the population, as the posts' script has it.
double deviation(const std::vector<std::int64_t>& all) {
  const double middle = mean(all);
  double squares = 0;
  for (const std::int64_t v : all) squares += (static_cast<double>(v) - middle) * (v - middle);
  return std::sqrt(squares / static_cast<double>(all.size()));
}

struct MeanAndWorst {
  json mean, worst;
};

MeanAndWorst metrics_of(const ModelPerf& perf, const BatchPasses& passes) {
  MeanAndWorst metrics;
  for (const auto& [name, member] : kMetrics) {
    double sum = 0, worst = 0;
    for (const TimedPass& p : passes.backend) {
      const double value = post_metrics(perf.reference.values, p.values).*member;
      sum += value;
      worst = std::max(worst, value);
    }
    metrics.mean[name] = sum / static_cast<double>(passes.backend.size());
    metrics.worst[name] = worst;
  }
  return metrics;
}

/// What no rounding of seconds or of differences can hide.
json integers(const ModelPerf& perf, const BatchPasses& passes) {
  const auto equal = [&](const TimedPass& p) { return p.output == perf.reference.output; };
  const std::vector<std::int64_t> ours = times(passes.backend);
  json j = {{"reference_ns", perf.reference.nanoseconds},
            {"batch_ns", ours},
            {"trials_of_equal_bits", std::ranges::count_if(passes.backend, equal)},
            {"elements", perf.reference.values.size()}};
  if (passes.stock.empty()) return j;
  const std::vector<std::int64_t> theirs = times(passes.stock);
  j["stock_reference_ns"] = perf.stock_reference.nanoseconds;
  j["stock_batch_ns"] = theirs;
  // Of medians: one pass that was held up would turn a mean.
  j["ratio_to_stock_ppm"] =
      std::llround(static_cast<double>(median(theirs)) / static_cast<double>(median(ours)) * 1e6);
  return j;
}

std::vector<std::int64_t> batch_of(std::int64_t size, std::int64_t trial) {
  std::vector<std::int64_t> requests(static_cast<std::size_t>(size));
  std::iota(requests.begin(), requests.end(), trial * (size - 1));
  requests[0] = 0;
  return requests;
}

}  // namespace

PostMetrics post_metrics(std::span<const double> reference, std::span<const double> output) {
  const Distance d = distance(reference, output);
  return {.max_abs_diff = d.max_abs,
          .mean_abs_diff = d.mean_abs,
          .rmse = d.rmse,
          .relative_l2_mean = d.relative_l2,
          .relative_l2_max = d.relative_l2,
          .output_abs_max = d.output_abs_max};
}

TimedModel::TimedModel(AskStudy ask, ModelChoice choice, std::int64_t threads)
    : ask_(std::move(ask)),
      choice_(std::move(choice)),
      threads_(threads),
      room_(protocol::SharedMemory::create(kRoom)) {}

TimedPass TimedModel::pass(const std::vector<std::int64_t>& requests) const {
  json request = choice_;
  request["requests"] = requests;
  request["threads"] = threads_;
  const json answer = ask_("perf", request, room_);
  const auto dtype = parse_dtype(answer.value("dtype", ""));
  const auto elements = answer.value("elements", std::size_t{0});
  const auto nanoseconds = answer.value("nanoseconds", std::int64_t{0});
  const std::size_t bytes = dtype ? elements * static_cast<std::size_t>(size_of(*dtype)) : 0;
  if (bytes == 0 || bytes > kRoom || elements > kRoom || nanoseconds < 1) {
    throw HarnessError("perf: the worker's answer is malformed: " + answer.dump());
  }
  const auto output = room_.bytes().first(bytes);
  TimedPass pass{nanoseconds, {output.begin(), output.end()}, std::vector<double>(elements)};
  widen(*dtype, output, pass.values);
  return pass;
}

ModelPerf time_model(const TimedModel& backend,
                     const TimedModel* stock,
                     const std::vector<std::int64_t>& batches,
                     std::int64_t trials) {
  ModelPerf perf;
  backend.pass({0});
  if (stock != nullptr) stock->pass({0});
  perf.reference = backend.pass({0});
  if (stock != nullptr) perf.stock_reference = stock->pass({0});
  for (const std::int64_t batch : batches) {
    BatchPasses passes{.batch = batch, .backend = {}, .stock = {}};
    for (std::int64_t trial = 0; trial < trials; ++trial) {
      const std::vector<std::int64_t> requests = batch_of(batch, trial);
      passes.backend.push_back(backend.pass(requests));
      if (stock != nullptr) passes.stock.push_back(stock->pass(requests));
    }
    perf.batches.push_back(std::move(passes));
  }
  return perf;
}

json post_json(const ModelPerf& perf, const BatchPasses& passes) {
  const std::vector<std::int64_t> all = times(passes.backend);
  const MeanAndWorst metrics = metrics_of(perf, passes);
  const auto reference = static_cast<double>(perf.reference.nanoseconds);
  return {{"batch_size", passes.batch},
          {"reference_samples", 1},
          {"distractor_samples", passes.batch - 1},
          {"num_trials", all.size()},
          {"reference_seconds", reference / 1e9},
          {"batch_seconds_mean", mean(all) / 1e9},
          {"batch_seconds_std", deviation(all) / 1e9},
          {"throughput_speedup_vs_reference",
           reference * static_cast<double>(passes.batch) / mean(all)},
          {"metrics_mean", metrics.mean},
          {"metrics_worst", metrics.worst},
          {"bi_conform", integers(perf, passes)}};
}

}  // namespace bic
