#include "harness/plan/telling.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/plan/arrangement.h"

namespace bic {
namespace {

constexpr int kIds = 500;
constexpr std::int64_t kTerms = std::int64_t{1} << 27;
constexpr std::int64_t kElements = 64;  // outputs on which the controls are compared
// Under law `edge` one 16-bit output lies by one rounding boundary, and an order other than the
// controls crosses it on one sample in two to twenty: three samples would miss some orders.
constexpr std::size_t kEdgeSamples = 8;
constexpr std::size_t kControls = kControlOrders.size();
using Pairs = std::array<bool, kControls*(kControls - 1) / 2>;

/// The orders that stand for the controls: pointwise ops have two evaluations instead of sums.
std::vector<Order> controls_of(const Problem& problem) {
  if (problem.proves() == ControlKind::kTail) return {Order::kSequential, Order::kReversed};
  return {kControlOrders.begin(), kControlOrders.end()};
}

bool same_bytes(std::span<const double> a, std::span<const double> b) {
  return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

using Outputs = std::vector<std::vector<double>>;

/// What each order gives on a sample.
Outputs outputs_of(const Inputs& inputs,
                   const SampleBytes& sample,
                   std::span<const Order> orders,
                   std::span<const std::int64_t> elements) {
  const Problem& problem = inputs.problem();
  Outputs y(orders.size(), std::vector<double>(elements.size()));
  inputs.with_operands(sample, [&](const Operands& operands) {
    for (std::size_t i = 0; i < orders.size(); ++i) {
      problem.op->reference->control(operands, problem.output_dtype(), orders[i], elements, y[i]);
    }
  });
  return y;
}

/// Which pairs of controls differ.
Pairs pairs_apart(const Outputs& y) {
  Pairs apart{};
  std::size_t next = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = i + 1; j < y.size(); ++j) apart[next++] = !same_bytes(y[i], y[j]);
  }
  return apart;
}

/// Counts the outputs that differ from those of the sequential order.
void count_changes(std::span<const Order> orders,
                   const Outputs& y,
                   const std::vector<double>& sequential,
                   Telling& telling) {
  telling.compared += static_cast<std::int64_t>(sequential.size());
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (orders[i] == Order::kSequential) continue;
    std::int64_t& changed = telling.changed[orders[i]];
    for (std::size_t e = 0; e < sequential.size(); ++e) {
      changed += !same_bytes({&y[i][e], 1}, {&sequential[e], 1});
    }
  }
}

/// No pair told apart yet; the pairs that `orders` controls do not have count as told apart.
Pairs nothing_apart(std::size_t orders) {
  Pairs apart{};
  for (std::size_t i = orders * (orders - 1) / 2; i < apart.size(); ++i) apart[i] = true;
  return apart;
}

/// Adds what `seen` adds; true when it adds something.
bool join(Pairs& all, const Pairs& seen) {
  bool news = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    news = news || (seen[i] && !all[i]);
    all[i] = all[i] || seen[i];
  }
  return news;
}

bool complete(const Pairs& pairs) {
  return std::ranges::all_of(pairs, [](bool apart) { return apart; });
}

/// More samples under test, lowest ids first, where a few see too little.
void add_company(const Problem& problem, Telling& telling) {
  if (!is_trimmed(problem.law) || size_of(problem.dtype) != 2 || !telling.told_apart) return;
  for (std::uint32_t id = 0; telling.samples.size() < kEdgeSamples; ++id) {
    const SampleId sample{id};
    if (std::ranges::find(telling.samples, sample) == telling.samples.end()) {
      telling.samples.push_back(sample);
    }
  }
}

/// Samples of a sweep: this problem's share of the 65,536 inputs, by the number in its seed. One at
/// least: long rows hold them all in fewer samples than there are shares.
Telling sweep_share(const Problem& problem) {
  Telling telling{.samples = {}, .told_apart = true, .searched = 0};
  const std::int64_t all = sweep_samples(problem);
  const auto share = static_cast<std::int64_t>(problem.seed.value & kShareBits) % kSweepShares;
  const std::int64_t first = share * all / kSweepShares;
  const std::int64_t end = std::max(first + 1, (share + 1) * all / kSweepShares);
  for (std::int64_t id = first; id < end; ++id) {
    telling.samples.push_back(SampleId{static_cast<std::uint32_t>(id)});
  }
  return telling;
}

/// Terms that one sample costs: its controls, and the trimming of law `edge`.
std::int64_t cost_of(const Problem& problem, std::int64_t elements) {
  constexpr std::int64_t kMinutes = kTerms / 3;  // a sample of a full-size model takes some
  if (problem.variant->on_request) return kMinutes;
  const std::int64_t k = std::max<std::int64_t>(problem.reduced_extent(), 1);
  const std::int64_t rows = problem.op->contraction ? elements : 1;
  return k * rows * static_cast<std::int64_t>(kControls) +
         (problem.law == Law::kEdge ? 500 * k : 0);
}

}  // namespace

std::vector<std::int64_t> spread_elements(std::int64_t total, std::int64_t count) {
  count = std::min(total, count);
  std::vector<std::int64_t> elements;
  for (std::int64_t i = 0; i < count; ++i) {
    elements.push_back(count == 1 ? 0 : i * (total - 1) / (count - 1));
  }
  return elements;
}

Telling find_telling(const Inputs& inputs) {
  const Problem& problem = inputs.problem();
  if (problem.sweeps()) return sweep_share(problem);
  Telling telling;
  const ControlKind kind = problem.proves();
  if (kind == ControlKind::kValue || kind == ControlKind::kNone) {
    telling.samples = {SampleId{0}};
    telling.told_apart = true;
    return telling;
  }
  const std::vector<std::int64_t> elements = spread_elements(problem.output_elements(), kElements);
  const std::int64_t cost = cost_of(problem, static_cast<std::int64_t>(elements.size()));
  const std::int64_t limit = std::clamp<std::int64_t>(kTerms / cost, 1, kIds);
  const std::vector<Order> orders = controls_of(problem);
  const Order sequential[] = {Order::kSequential};
  Pairs apart = nothing_apart(orders.size());
  for (std::int64_t id = 0; id < limit && !complete(apart); ++id) {
    const SampleId sample{static_cast<std::uint32_t>(id)};
    const SampleBytes bytes = inputs.sample(sample);
    const Outputs y = outputs_of(inputs, bytes, orders, elements);
    ++telling.searched;
    if (!join(apart, pairs_apart(y))) continue;
    telling.samples.push_back(sample);
    count_changes(orders, y, outputs_of(inputs, bytes, sequential, elements)[0], telling);
  }
  telling.told_apart = complete(apart);
  add_company(problem, telling);
  if (telling.samples.empty()) telling.samples = {SampleId{0}};
  return telling;
}

}  // namespace bic
