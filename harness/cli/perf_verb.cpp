#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/backend_flags.h"
#include "harness/cli/flags.h"
#include "harness/cli/op_perf_verb.h"
#include "harness/files/text_file.h"
#include "harness/files/typed.h"
#include "harness/plan/case_check.h"
#include "harness/plan/selection.h"
#include "harness/run/model_perf.h"
#include "harness/workers/environment.h"
#include "harness/workers/interrupt.h"
#include "harness/workers/start_worker.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using nlohmann::json;

/// A batch of full-size requests takes minutes, its weights alone one.
constexpr std::chrono::milliseconds kLongestPass = std::chrono::minutes(30);

struct PerfFlags {
  BackendFlags backend;
  ModelChoice choice{.preset = "tiny"};
  std::string suite, batches, trials = "10", json, shapes;
  std::vector<std::string> ops, dtypes;

  void add_to(CLI::App& app) {
    backend.add_to(app);
    backend.add_weights(app);
    app.add_option("--suite", suite, "whole model to time: pi0");
    app.add_option("--preset", choice.preset, "size of the model (tiny)");
    app.add_option("--op", ops, "op to time, at the sizes at which pi0 calls it; repeats")
        ->allow_extra_args(false);
    app.add_option("--shapes", shapes, "sizes of ops to time instead (docs/shapes.md)");
    app.add_option("--dtype", dtypes, "of a model fp32 (default), bf16 or fp64; of ops repeats")
        ->allow_extra_args(false);
    app.add_option(
        "--batch", batches, "batch sizes: 1,8,32 (a model: 32; ops: those of the sizes)");
    app.add_option("--trials", trials, "passes of each batch size (10)");
    app.add_option("--json", json, "file for the numbers, as public posts give them");
  }

  std::vector<std::int64_t> batch_sizes() const {
    std::vector<std::int64_t> sizes;
    const std::string texts = batches.empty() && !times_ops() ? "32" : batches;
    for (const std::string& text : split(texts, ',')) {
      sizes.push_back(number_flag("--batch", text, kMostBatch));
    }
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  std::int64_t trial_count() const { return number_flag("--trials", trials, 1000); }

  bool times_ops() const { return !ops.empty() || !shapes.empty(); }

  void check() {
    constexpr const char* kKnown = "pi0";
    if (!suite.empty() && times_ops()) {
      throw UsageError("--suite excludes --op and --shapes: one is a whole model");
    }
    if (!backend.against.empty()) throw UsageError("--against: perf takes one backend");
    if (times_ops()) return;
    if (suite.empty()) {
      throw UsageError(
          fmt::format("--suite is missing; perf times whole models: {}; or ops: --op mm", kKnown));
    }
    if (dtypes.size() > 1) throw UsageError("--dtype: a model is timed in one dtype");
    if (!dtypes.empty()) choice.dtype = dtypes.front();
    if (suite != kKnown) {
      throw UsageError(fmt::format(
          "--suite: perf does not time '{}'; it times whole models: {}", suite, kKnown));
    }
  }

  /// The calls of ops that are asked for. Throws UsageError.
  std::vector<OpCall> calls() {
    const Selection chosen = make_selection({.ops = ops, .dtypes = dtypes, .shapes = shapes});
    rows = shapes.empty() ? pi0_ops_full() : chosen.shapes;
    std::erase_if(rows, [&](const ShapeRow& row) {
      return std::ranges::find(chosen.ops, row.op) == chosen.ops.end();
    });
    for (const ShapeRow& row : rows) {
      if (!batches.empty() || !row.batches.empty()) continue;
      throw UsageError(
          fmt::format("--shapes: a row of '{}' names no batch; add --batch 1,8", row.op->name));
    }
    auto all = op_calls(rows, chosen.dtypes, batch_sizes());
    if (all.empty()) throw UsageError("nothing is selected: no size is of that op and dtype");
    return all;
  }

  std::vector<ShapeRow> rows;  ///< those of the calls
};

/// A worker and the model in it.
struct Timed {
  Timed(const WorkerLaunch& launch, const ModelChoice& choice)
      : worker(start_worker(launch)),
        model(ask_of(*worker, "perf"), choice, worker->hello().default_threads) {}

  std::unique_ptr<Worker> worker;
  TimedModel model;
};

/// Stock to time beside the backend; null where it is the backend, or the build has none.
std::unique_ptr<Timed> stock_beside(const WorkerLaunch& backend,
                                    std::optional<WorkerLaunch> stock,
                                    const ModelChoice& choice) {
  if (backend.backend == "libtorch" || !stock) return nullptr;
  stock->timeout = backend.timeout;
  return std::make_unique<Timed>(*stock, choice);
}

std::string line_of(const json& post) {
  const json& ours = post.at("bi_conform");
  const auto stock = ours.find("ratio_to_stock_ppm");
  return fmt::format(
      "B={:<5} {:>10.3f} ms +- {:.3f}  {:.2f}x the reference's throughput{}; {} of "
      "{} trials have its bits, off by at most {:.3g}",
      post.at("batch_size").get<std::int64_t>(),
      post.at("batch_seconds_mean").get<double>() * 1e3,
      post.at("batch_seconds_std").get<double>() * 1e3,
      post.at("throughput_speedup_vs_reference").get<double>(),
      stock == ours.end() ? "" : fmt::format(", {:.2f}x stock's", stock->get<double>() / 1e6),
      ours.at("trials_of_equal_bits").get<std::int64_t>(),
      post.at("num_trials").get<std::int64_t>(),
      post.at("metrics_worst").at("max_abs_diff").get<double>());
}

int ops_of(const Program& program, PerfFlags& flags) {
  flags.backend.declare(program);
  auto stock = flags.backend.stock(program);
  if (!stock) {
    throw UsageError(
        "perf --op: no stock PyTorch to time against; build with -DBIC_LIBTORCH=ON, or name a "
        "torch "
        "of that device in BIC_TORCH");
  }
  const auto calls = flags.calls();
  const WorkerLaunch launch = flags.backend.launch(program);
  stock->timeout = launch.timeout;
  return perf_of_ops({launch, *stock, calls, flags.json});
}

int model_of(const Program& program, PerfFlags& flags) {
  const std::vector<std::int64_t> batches = flags.batch_sizes();
  const std::int64_t trials = flags.trial_count();
  const auto weights = flags.backend.weights_of(program, flags.choice.preset);
  if (weights) flags.choice.weights = weights->file;
  WorkerLaunch launch = flags.backend.launch(program);
  if (flags.backend.timeout.empty()) launch.timeout = kLongestPass;
  catch_interrupts();
  const Timed backend(launch, flags.choice);
  const auto stock = stock_beside(launch, flags.backend.stock(program), flags.choice);
  const ModelPerf perf =
      time_model(backend.model, stock ? &stock->model : nullptr, batches, trials);
  const protocol::Hello& hello = backend.worker->hello();
  fmt::print("{} {} {} on {}, {} threads; the reference alone: {:.3f} ms\n",
             flags.suite,
             flags.choice.preset,
             flags.choice.dtype,
             hello.backend,
             hello.default_threads,
             static_cast<double>(perf.reference.nanoseconds) / 1e6);
  json posts = json::array();
  for (const BatchPasses& passes : perf.batches) {
    json post = post_json(perf, passes);
    post["bi_conform"].update({{"version", suite_version()},
                               {"backend", hello.backend},
                               {"device", hello.device},
                               {"suite", flags.suite},
                               {"preset", flags.choice.preset},
                               {"dtype", flags.choice.dtype},
                               {"threads", hello.default_threads}});
    if (weights) post["bi_conform"]["weights"] = *weights;
    fmt::print("{}\n", line_of(post));
    posts.push_back(std::move(post));
  }
  if (!flags.json.empty()) write_text(flags.json, posts.dump(2) + "\n");
  return static_cast<int>(ExitCode::kConforms);
}

}  // namespace

int perf_verb(const Program& program, const Arguments& arguments) {
  CLI::App app(
      "Times a whole model alone and in batches, as public posts do, or ops (docs/perf.md).",
      "bi-conform perf");
  PerfFlags flags;
  flags.add_to(app);
  parse(app, arguments);
  flags.check();
  return flags.times_ops() ? ops_of(program, flags) : model_of(program, flags);
}

}  // namespace bic
