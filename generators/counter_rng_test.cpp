#include "generators/counter_rng.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "results_schema/vocabulary.h"

namespace bic {
namespace {

TEST(CounterRng, SpansEqualSingleWordsAtAnyLength) {
  for (const std::size_t n : {0, 1, 3, 4, 5, 64, 127}) {
    const std::uint64_t key = 0x9e3779b97f4a7c14 + n;
    const std::uint64_t first = 0xffffffffffffff00 + n;  // the counter wraps
    std::vector<std::uint64_t> counters(n);
    for (std::size_t i = 0; i < n; ++i) counters[i] = first + i;
    std::vector<std::uint64_t> run(n);
    std::vector<std::uint64_t> listed(n);
    random_bits(key, first, run);
    random_bits(key, counters, listed);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(run[i], random_bits(key, first + i));
      EXPECT_EQ(listed[i], run[i]);
    }
  }
}

/// The paper's listing, written out, so that a slip in ours shows.
std::uint64_t listing(std::uint64_t ctr, std::uint64_t key) {
  std::uint64_t t, x, y, z;
  y = x = ctr * key;
  z = y + key;
  x = x * x + y, x = (x >> 32) | (x << 32);
  x = x * x + z, x = (x >> 32) | (x << 32);
  x = x * x + y, x = (x >> 32) | (x << 32);
  t = x = x * x + z, x = (x >> 32) | (x << 32);
  return t ^ ((x * x + y) >> 32);
}

TEST(CounterRng, FollowsThePaper) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t key = random_bits(77, i) | 1;
    EXPECT_EQ(random_bits(key, i), listing(i, key));
  }
}

TEST(CounterRng, EveryBitIsSetHalfOfTheTime) {
  constexpr int kDraws = 1 << 16;
  std::array<int, 64> ones{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t bits = random_bits(0x548c9decbce65297, i);
    for (int b = 0; b < 64; ++b)
      ones[static_cast<std::size_t>(b)] += static_cast<int>(bits >> b & 1);
  }
  for (const int count : ones) EXPECT_NEAR(count, kDraws / 2, 5 * 128);  // five sigma
}

TEST(CounterRng, NeighbouringCountersAndKeysAreUnrelated) {
  constexpr int kDraws = 1 << 12;
  const Seed seed{1};
  long by_counter = 0;
  long by_key = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t key = derive(seed, i).value;
    const std::uint64_t bits = random_bits(key, i);
    by_counter += std::popcount(bits ^ random_bits(key, i + 1));
    by_key += std::popcount(bits ^ random_bits(derive(seed, i + 1).value, i));
  }
  constexpr int kFiveSigma = 5 * 4 * 64;  // of the sum of 2^12 counts of variance 16
  EXPECT_NEAR(by_counter, 32 * kDraws, kFiveSigma);
  EXPECT_NEAR(by_key, 32 * kDraws, kFiveSigma);
}

}  // namespace
}  // namespace bic
