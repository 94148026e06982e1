#include "harness/plan/case_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/problem.h"
#include "results_schema/error.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

constexpr int kMostGap = 65536, kMostThreads = 1024, kMostRuns = 2, kMostWorkers = kPeerWorker;
constexpr double kMostBytes = 0x1p33;

[[noreturn]] void refuse(std::string_view field, const std::string& what) {
  throw UsageError(fmt::format("case string: field '{}': {}", field, what));
}

void check_count(const CaseName& name) {
  const std::size_t wanted = name.relation == kAccuracyRelation ? 1 : 2;
  if (name.trials.size() == wanted) return;
  refuse("trials",
         fmt::format(
             "relation '{}' takes {} of them, got {}", name.relation, wanted, name.trials.size()));
}

/// Only the second trial of the relation `peer` runs on the peer, and all else of it is the first.
void check_peer(const CaseName& name) {
  const bool compares = name.relation == peer_relation().name;
  for (std::size_t i = 0; i < name.trials.size(); ++i) {
    if ((name.trials[i].worker == kPeerWorker) == (compares && i == 1)) continue;
    refuse("trials", fmt::format("worker={} is for the second trial of peer", kPeerWorker));
  }
  if (!compares) return;
  Trial here = name.trials[1];
  here.worker = 0;
  if (here != name.trials[0]) refuse("trials", "peer compares the same trial on both backends");
}

void check_pair(const Trial& a, const Trial& b) {
  if (a == b) refuse("trials", "both are the same, so nothing is compared");
  if (a.sample != b.sample) {
    refuse("trials",
           fmt::format("they name samples {} and {}; only the bits of one sample can be compared",
                       a.sample.value,
                       b.sample.value));
  }
}

void check_range(const char* key, std::int64_t value, std::int64_t most) {
  if (value > most) refuse("trial", fmt::format("{}{} is more than {}", key, value, most));
}

void check_numbers(const Trial& t) {
  check_range("B", t.batch, kMostBatch);
  check_range("o=", t.offset, kMostGap);
  check_range("ld=", t.row_gap, kMostGap);
  check_range("pad=", t.pad, kMostGap);
  check_range("t=", t.threads, kMostThreads);
  check_range("run=", t.run, kMostRuns);
  check_range("worker=", t.worker, kMostWorkers);
}

/// What the op's declaration has to offer, or the trial would run as if nothing had been said.
void check_offers(const Problem& p, const Trial& t) {
  const Variant& v = *p.variant;
  if (t.form != Form::kFunctional && !is_of_device(t.form) &&
      !v.forms.contains(std::string(name(t.form)))) {
    refuse("trial", fmt::format("'{}' has no form '{}'", p.op->name, name(t.form)));
  }
  if (!t.pad_dim.empty() && std::ranges::find(v.reduced, t.pad_dim) == v.reduced.end()) {
    refuse("trial", fmt::format("'{}' does not sum over '{}'", p.op->name, t.pad_dim));
  }
  const bool swaps = t.storage == Storage::kOuterSwapped;
  const std::size_t rank = swaps ? 3 : t.storage == Storage::kTransposed ? 2 : 0;
  if (std::ranges::none_of(v.inputs, [&](const auto& i) { return i.axes.size() >= rank; })) {
    refuse("trial", fmt::format("'{}' has no input of rank {} to store so", p.op->name, rank));
  }
}

/// The tensor of which a batch would be larger than any machine should be asked for; else empty.
std::string too_large(const Problem& p, std::int64_t batch) {
  std::vector<TensorSpec> tensors = p.variant->inputs;
  tensors.push_back(p.variant->output);
  for (const TensorSpec& tensor : tensors) {
    double bytes = static_cast<double>(size_of(p.dtype));
    for (std::int64_t e : block_shape(tensor, p.dims)) bytes *= static_cast<double>(e);
    if (batch_axis(tensor) >= 0) bytes *= static_cast<double>(batch);
    if (bytes > kMostBytes) return tensor.name;
  }
  return "";
}

void check_size(const Problem& p, const Trial& t) {
  for (const auto& [dim, extent] : p.dims) {
    if (extent > kMostExtent) {
      refuse("dims", fmt::format("{}{} is more than {}", dim, extent, kMostExtent));
    }
  }
  const std::string tensor = too_large(p, t.batch);
  if (!tensor.empty()) refuse("dims", fmt::format("'{}' would be larger than 8 GiB", tensor));
}

}  // namespace

void check_case(const CaseName& name) {
  const Problem problem = problem_of(name);
  check_count(name);
  check_peer(name);
  if (name.trials.size() == 2) check_pair(name.trials[0], name.trials[1]);
  for (const Trial& t : name.trials) {
    check_numbers(t);
    check_offers(problem, t);
    check_size(problem, t);
  }
}

void check_sizes(const std::vector<Cell>& plan, const Selection& selection, Seed seed) {
  for (const Cell& cell : plan) {
    for (const ProblemPlan& p : cell.problems) {
      const Problem problem = draw(p, seed, selection.dims, 0);
      const std::int64_t batch = batches_of(p, problem, selection).back();
      const std::string tensor = too_large(problem, batch);
      if (tensor.empty()) continue;
      throw UsageError(
          fmt::format("'{}' of {} in {} would be larger than 8 GiB at a batch of {}; ask for "
                      "smaller --dims, --shapes or --batch",
                      tensor,
                      problem.op->name,
                      bic::name(problem.dtype),
                      batch));
    }
  }
}

}  // namespace bic
