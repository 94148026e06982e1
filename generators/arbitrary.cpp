#include "generators/arbitrary.h"

#include <algorithm>
#include <array>
#include <string>

#include "results_schema/error.h"

namespace bic {
namespace {

using Extents = std::vector<std::int64_t>;

// Around powers of two, so that they are neither aligned nor beside an edge's own neighbours only.
constexpr std::array<std::int64_t, 30> kPrimes{
    2,  3,   5,   7,   11,  13,  17,  19,  23,  29,   37,   41,   43,   53,   61,
    67, 101, 131, 191, 251, 263, 509, 523, 761, 1021, 1033, 2039, 2053, 4093, 4111};
constexpr std::array<std::int64_t, 7> kTileEdges{8, 16, 32, 48, 64, 128, 256};

/// Powers of two and multiples of tile edges, moved by `step`, in [lo, hi].
Extents edges(std::int64_t lo, std::int64_t hi, std::int64_t step) {
  constexpr std::int64_t kMostTiles = 5;
  Extents all;
  for (std::int64_t power = 2; power <= hi + 1; power *= 2) all.push_back(power + step);
  for (const std::int64_t tile : kTileEdges) {
    for (std::int64_t tiles = 1; tiles <= kMostTiles; ++tiles) all.push_back(tiles * tile + step);
  }
  std::erase_if(all, [=](std::int64_t e) { return e < lo || e > hi; });
  return all;
}

Extents primes(std::int64_t lo, std::int64_t hi) {
  Extents all(kPrimes.begin(), kPrimes.end());
  std::erase_if(all, [=](std::int64_t p) { return p < lo || p > hi; });
  return all;
}

/// Every octave of [lo, hi] equally often.
rc::Gen<std::int64_t> log_uniform(std::int64_t lo, std::int64_t hi) {
  std::vector<rc::Gen<std::int64_t>> octaves;
  for (std::int64_t from = lo; from <= hi; from *= 2) {
    octaves.push_back(rc::gen::inRange(from, std::min(2 * from, hi + 1)));
  }
  return rc::gen::join(rc::gen::elementOf(octaves));
}

/// One of the generators, each `weights[i]` times as often as one of weight 1.
rc::Gen<std::int64_t> any_of(const std::vector<std::pair<std::size_t, Extents>>& kinds,
                             std::int64_t lo,
                             std::int64_t hi) {
  constexpr std::size_t kLogUniform = 2;
  std::vector<rc::Gen<std::int64_t>> weighted(kLogUniform, log_uniform(lo, hi));
  for (const auto& [weight, extents] : kinds) {
    if (extents.empty()) continue;
    weighted.insert(weighted.end(), weight, rc::gen::elementOf(extents));
  }
  return rc::gen::join(rc::gen::elementOf(weighted));
}

/// Values between `base` and `value`, nearest to `base` first.
template <typename T>
std::vector<T> between(T base, T value) {
  std::vector<T> steps;
  for (auto next = rc::shrink::towards(value, base); auto step = next.next();) {
    steps.push_back(*step);
  }
  return steps;
}

/// `trial` with one member more like that of `base`, the boldest steps first.
std::vector<Trial> simpler(const Trial& trial, const Trial& base) {
  std::vector<Trial> steps;
  const auto offer = [&](auto member, auto value) {
    Trial step = trial;
    step.*member = value;
    step.position = std::min(step.position, step.batch - 1);
    if (step != trial) steps.push_back(step);
  };
  const auto offer_between = [&](auto member) {
    for (const auto value : between(base.*member, trial.*member)) offer(member, value);
  };
  offer_between(&Trial::batch);
  offer_between(&Trial::position);
  offer_between(&Trial::offset);
  offer_between(&Trial::row_gap);
  offer(&Trial::storage, base.storage);
  offer(&Trial::form, base.form);
  offer(&Trial::threads, base.threads);
  return steps;
}

/// `draw` without its own shrinks, shrinking towards `base` instead.
rc::Gen<Trial> towards(const Trial& base, rc::Gen<Trial> draw) {
  return rc::gen::shrink(
      rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, std::move(draw))),
      [base](const Trial& trial) { return rc::seq::fromContainer(simpler(trial, base)); });
}

}  // namespace

rc::Gen<std::int64_t> extent(std::int64_t lo, std::int64_t hi) {
  if (lo < 1 || hi < lo) {
    throw UsageError("extent range " + std::to_string(lo) + ".." + std::to_string(hi) +
                     " is empty or starts below 1; give 1 <= lo <= hi");
  }
  Extents beside = edges(lo, hi, -1);
  const Extents above = edges(lo, hi, 1);
  beside.insert(beside.end(), above.begin(), above.end());
  const Extents one = lo == 1 ? Extents{1} : Extents{};
  auto draw = any_of({{1, one}, {3, primes(lo, hi)}, {3, edges(lo, hi, 0)}, {3, beside}}, lo, hi);
  return rc::gen::shrink(rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, std::move(draw))),
                         [lo](std::int64_t e) { return rc::shrink::towards(e, lo); });
}

rc::Gen<Dims> dims(const std::vector<DimRange>& ranges) {
  rc::Gen<Dims> all = rc::gen::just(Dims{});
  for (const DimRange& range : ranges) {
    all = rc::gen::apply(
        [name = range.name](Dims dims, std::int64_t e) {
          dims[name] = e;
          return dims;
        },
        std::move(all),
        extent(range.lo, range.hi));
  }
  return all;
}

rc::Gen<Trial> with_batch(const Trial& base, std::int64_t largest) {
  Extents sizes(batch_sizes().begin(), batch_sizes().end());
  std::erase_if(sizes,
                [=](std::int64_t size) { return size > std::max<std::int64_t>(largest, 1); });
  auto draw = rc::gen::mapcat(rc::gen::elementOf(sizes), [base](std::int64_t batch) {
    return rc::gen::map(rc::gen::elementOf(positions(batch)), [base, batch](std::int64_t position) {
      Trial trial = base;
      trial.batch = batch;
      trial.position = position;
      return trial;
    });
  });
  return towards(base, std::move(draw));
}

rc::Gen<Trial> with_layout(const Trial& base) {
  std::vector<Storage> storages{
      Storage::kRowMajor, Storage::kRowMajor, Storage::kTransposed, Storage::kOuterSwapped};
  if (base.company == Company::kTwins) storages.push_back(Storage::kExpanded);
  auto draw = rc::gen::apply(
      [base](int offset, int row_gap, Storage storage) {
        Trial trial = base;
        trial.offset = offset;
        trial.row_gap = row_gap;
        trial.storage = storage;
        return trial;
      },
      rc::gen::oneOf(rc::gen::just(base.offset), rc::gen::inRange(0, 16)),
      rc::gen::elementOf(std::vector<int>{0, 0, 0, 0, 1, 5, 8, 16}),
      rc::gen::elementOf(storages));
  return towards(base, std::move(draw));
}

rc::Gen<Trial> with_form(const Trial& base, const std::vector<Form>& forms) {
  return towards(base, rc::gen::map(rc::gen::elementOf(forms), [base](Form form) {
                   Trial trial = base;
                   trial.form = form;
                   return trial;
                 }));
}

rc::Gen<Trial> with_schedule(const Trial& base) {
  const std::vector<int> teams{base.threads, 1, 2, 3, 4, 8, -1};
  return towards(base, rc::gen::map(rc::gen::elementOf(teams), [base](int threads) {
                   Trial trial = base;
                   trial.threads = threads;
                   return trial;
                 }));
}

rc::Gen<Trial> trial(const Trial& base, std::int64_t largest, const std::vector<Form>& forms) {
  auto draw = rc::gen::apply(
      [](Trial batch, const Trial& layout, const Trial& form, const Trial& schedule) {
        batch.offset = layout.offset;
        batch.row_gap = layout.row_gap;
        batch.storage = layout.storage;
        batch.form = form.form;
        batch.threads = schedule.threads;
        return batch;
      },
      with_batch(base, largest),
      with_layout(base),
      with_form(base, forms),
      with_schedule(base));
  return towards(base, std::move(draw));
}

}  // namespace bic
