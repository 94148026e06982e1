#pragma once

#include <utility>
#include <vector>

#include "generators/counter_rng.h"
#include "generators/draws.h"
#include "results_schema/vocabulary.h"

namespace bic::decoder {

/// One draw after the other, of a seed alone.
class Chance {
 public:
  explicit Chance(Seed seed) : seed_(seed) {}

  /// Both ends included; fewer than 2^20 apart.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto n = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int64_t>(draws::below(random_bits(seed_.value, next_++), n));
  }

  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1],
                list[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }

 private:
  Seed seed_;
  std::uint64_t next_ = 0;
};

}  // namespace bic::decoder
