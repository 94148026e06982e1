#include "harness/selftest/selftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "harness/files/out_folder.h"
#include "harness/selftest/recipe.h"
#include "harness/selftest/selftest_report.h"
#include "harness/workers/backends.h"
#include "harness/workers/interrupt.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

/// A fault and the seed it is looked for with.
struct Task {
  const faults::Fault* fault;
  Seed seed;
};

std::vector<Task> tasks_of(const SelftestOptions& options) {
  std::vector<Task> tasks;
  for (Seed seed : options.seeds) {
    for (const faults::Fault* f : options.faults) {
      if (!ops_of(*f, options.hunt).empty()) tasks.push_back({f, seed});
    }
  }
  return tasks;
}

WorkerLaunch launch_for(const faults::Fault& fault, const SelftestOptions& options) {
  // Waiting is what a hang costs: it need not be waited for as long as for a slow kernel.
  constexpr std::chrono::seconds kHang{2};
  WorkerLaunch launch = launch_of("fault:" + std::string(fault.name), options.program);
  if (fault.status == Status::kTimeout) launch.timeout = kHang;
  return launch;
}

/// Runs all tasks, some at once; shows each as soon as those before it are done.
class Hunters {
 public:
  explicit Hunters(const SelftestOptions& options)
      : options_(options), tasks_(tasks_of(options)), found_(tasks_.size()) {}

  std::vector<Hunt> run() {
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < options_.jobs; ++i) threads.emplace_back([this] { work(); });
    }
    if (failure_) std::rethrow_exception(failure_);
    std::vector<Hunt> hunts;
    for (auto& h : found_) {
      if (h) hunts.push_back(std::move(*h));
    }
    return hunts;
  }

  std::size_t planned() const { return tasks_.size(); }

 private:
  void work() {
    for (std::size_t i = next_++; i < tasks_.size() && !interrupted(); i = next_++) {
      try {
        HuntOptions options = options_.hunt;
        options.seed = tasks_[i].seed;
        options.stopped = interrupted;
        const auto launch = launch_for(*tasks_[i].fault, options_);
        Hunt h = (options_.recipe ? recipe_hunt : hunt)(*tasks_[i].fault, launch, options);
        if (!interrupted()) keep(i, std::move(h));
      } catch (const Interrupted&) {
        return;
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        next_ = tasks_.size();
      }
    }
  }

  void keep(std::size_t i, Hunt h) {
    const std::lock_guard lock(mutex_);
    found_[i] = std::move(h);
    for (; shown_ < found_.size() && found_[shown_]; ++shown_) show(*found_[shown_]);
    std::fflush(stdout);
  }

  void show(const Hunt& h) const {
    // Of many seeds only survivors are worth a line.
    if (options_.seeds.size() == 1 || !h.killed()) fmt::print("{}\n", hunt_text(h));
    if (h.inaccurate > 0) {
      fmt::print("  breaks the accuracy bound, which it should hold, in {} cases\n", h.inaccurate);
    }
    for (const std::string& relation : h.blind(options_.hunt)) {
      fmt::print("  {} does not see it, as the catalog says it does\n", relation);
    }
  }

  const SelftestOptions& options_;
  std::vector<Task> tasks_;
  std::vector<std::optional<Hunt>> found_;
  std::size_t shown_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// Whether the fault behaves as its catalog entry says.
bool as_promised(const Hunt& h, const HuntOptions& options) {
  return h.killed() && h.inaccurate == 0 && h.blind(options).empty();
}

/// Kills had and asked for: one for each fault, op and seed.
report::Detection kills_of(const std::vector<Hunt>& hunts) {
  report::Detection kills;
  for (const Hunt& h : hunts) {
    kills.faults += static_cast<std::int64_t>(h.ops.size());
    kills.killed +=
        std::ranges::count_if(h.ops, [](const OpHunt& o) { return o.kill.has_value(); });
  }
  return kills;
}

int exit_code(const SelftestOptions& options, const std::vector<Hunt>& hunts) {
  // The recipe is shown beside the suite; what it misses is no fault of ours.
  if (options.recipe) return static_cast<int>(ExitCode::kConforms);
  const auto [had, asked] = kills_of(hunts);
  const bool enough =
      options.seeds.size() == 1
          ? std::ranges::all_of(hunts, [&](const Hunt& h) { return as_promised(h, options.hunt); })
          : had * 1'000'000 >= kEnoughKills * asked;
  return static_cast<int>(enough ? ExitCode::kConforms : ExitCode::kDoesNotConform);
}

SelftestResult conclude(const SelftestOptions& options,
                        const std::vector<Hunt>& hunts,
                        std::size_t planned) {
  const report::Detection score{.killed = std::ranges::count_if(hunts, &Hunt::killed),
                                .faults = static_cast<std::int64_t>(hunts.size())};
  std::string over = fmt::format("seed {:x}", options.seeds.front().value);
  if (options.seeds.size() > 1) over = fmt::format("{} seeds", options.seeds.size());
  const char* looked_with = options.recipe ? "recipe" : "quick";
  const auto [had, asked] = kills_of(hunts);
  fmt::print("killed {} of {} on each of their ops; {} of {} ops ({}, {})\n",
             score.killed,
             score.faults,
             had,
             asked,
             looked_with,
             over);
  if (hunts.size() == planned) return {exit_code(options, hunts), score};
  fmt::print("interrupted after {} of {}\n", hunts.size(), planned);
  return {static_cast<int>(ExitCode::kUnproved), score};
}

}  // namespace

SelftestResult selftest(const SelftestOptions& options) {
  make_out_folder(options.out);
  Hunters hunters(options);
  if (hunters.planned() == 0) throw UsageError("nothing is selected: no fault touches those ops");
  const std::vector<Hunt> hunts = hunters.run();
  write_selftest(options, hunts);
  fmt::print("\n{}\n", kill_table(hunts));
  return conclude(options, hunts, hunters.planned());
}

std::vector<const faults::Fault*> faults_named(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  std::vector<const faults::Fault*> found;
  for (const faults::Fault& f : faults::catalog()) {
    known.emplace_back(f.name);
    const bool wanted = std::ranges::find(names, f.name) != names.end();
    if (names.empty() || wanted) found.push_back(&f);
  }
  for (const std::string& n : names) {
    if (faults::find(n) == nullptr) {
      throw UsageError(fmt::format(
          "--fault: unknown fault '{}'{} (bi-conform list faults)", n, did_you_mean(n, known)));
    }
  }
  return found;
}

void check_exclusions(const std::vector<std::string>& names) {
  std::vector<std::string> known{std::string(kAccuracyRelation)};
  for (const Relation& r : relations()) known.emplace_back(r.name);
  for (std::size_t i = 0; i < kLawCount; ++i) known.emplace_back(name(static_cast<Law>(i)));
  for (const std::string& n : names) {
    if (std::ranges::find(known, n) == known.end()) {
      throw UsageError(fmt::format("--without: '{}' is neither a relation nor a law{} (known: {})",
                                   n,
                                   did_you_mean(n, known),
                                   fmt::join(known, ", ")));
    }
  }
}

}  // namespace bic
