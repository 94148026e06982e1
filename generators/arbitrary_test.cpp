#include "generators/arbitrary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "results_schema/error.h"

namespace bic {
namespace {

const Trial kBase{.sample = SampleId{42}};
const std::vector<Form> kForms{Form::kFunctional, Form::kOut, Form::kInplace};

template <typename T>
T drawn(const rc::Gen<T>& gen, std::uint64_t seed) {
  return gen(rc::Random(seed), rc::kNominalSize).value();
}

/// Follows the first shrink that still fails, to the end.
template <typename T, typename Fails>
T shrunk(const rc::Gen<T>& gen, std::uint64_t seed, const Fails& fails) {
  auto current = gen(rc::Random(seed), rc::kNominalSize);
  for (bool moved = true; moved;) {
    moved = false;
    auto shrinks = current.shrinks();
    for (auto next = shrinks.next(); next && !moved; next = shrinks.next()) {
      if (!fails(next->value())) continue;
      current = *next;
      moved = true;
    }
  }
  return current.value();
}

RC_GTEST_PROP(Extent, StaysInItsRange, ()) {
  const auto lo = *rc::gen::inRange<std::int64_t>(1, 300);
  const auto hi = lo + *rc::gen::inRange<std::int64_t>(0, 3000);
  const auto e = *extent(lo, hi);
  RC_ASSERT(lo <= e && e <= hi);
}

RC_GTEST_PROP(ArbitraryTrial, IsAlwaysOneThatCanBeRun, ()) {
  const Trial t = *trial(kBase, 257, kForms);
  RC_ASSERT(t.batch >= 1 && t.batch <= 257);
  RC_ASSERT(t.position >= 0 && t.position < t.batch);
  RC_ASSERT(t.offset >= 0 && t.offset <= 15);
  RC_ASSERT(t.row_gap >= 0);
  RC_ASSERT(t.storage != Storage::kExpanded);
  RC_ASSERT(t.sample == kBase.sample);
}

TEST(Extent, ShrinksToTheSmallestThatFails) {
  for (std::uint64_t s = 0; s < 20; ++s) {
    EXPECT_EQ(shrunk(extent(3, 4096), s, [](std::int64_t) { return true; }), 3);
  }
  const auto gen = extent(1, 4096);
  const auto fails = [](std::int64_t e) { return e >= 77; };
  for (std::uint64_t s = 0; s < 20; ++s) {
    if (!fails(drawn(gen, s))) continue;
    EXPECT_EQ(shrunk(gen, s, fails), 77);
  }
}

TEST(ArbitraryDims, ShrinkEachDimTowardsItsLowerBound) {
  const auto gen = dims({{"k", 2, 512}, {"n", 1, 512}});
  const Dims smallest = shrunk(gen, 4, [](const Dims&) { return true; });
  EXPECT_EQ(smallest, (Dims{{"k", 2}, {"n", 1}}));
}

TEST(ArbitraryTrial, ShrinksToTheDefault) {
  for (std::uint64_t s = 0; s < 50; ++s) {
    const Trial t = shrunk(trial(kBase, 257, kForms), s, [](const Trial&) { return true; });
    EXPECT_EQ(t, kBase);
  }
}

TEST(ArbitraryTrial, KeepsWhatTheFailureNeeds) {
  const auto fails = [](const Trial& t) { return t.batch >= 5 && t.offset >= 3; };
  int found = 0;
  for (std::uint64_t s = 0; s < 50; ++s) {
    const auto gen = trial(kBase, 257, kForms);
    if (!fails(drawn(gen, s))) continue;
    Trial least = kBase;
    least.batch = 5;
    least.offset = 3;
    EXPECT_EQ(shrunk(gen, s, fails), least);
    ++found;
  }
  EXPECT_GT(found, 5);
}

TEST(ArbitraryTrial, ReachesEveryBatchLayoutFormAndTeam) {
  std::set<std::int64_t> batches;
  std::set<int> offsets;
  std::set<Storage> storages;
  std::set<Form> forms;
  std::set<int> teams;
  Trial twins = kBase;
  twins.company = Company::kTwins;
  for (std::uint64_t s = 0; s < 2000; ++s) {
    const Trial t = drawn(trial(twins, 257, kForms), s);
    batches.insert(t.batch);
    offsets.insert(t.offset);
    storages.insert(t.storage);
    forms.insert(t.form);
    teams.insert(t.threads);
  }
  EXPECT_EQ(batches.size(), batch_sizes().size());
  EXPECT_EQ(offsets.size(), 16U);
  EXPECT_EQ(storages.size(), 4U);
  EXPECT_EQ(forms.size(), 3U);
  EXPECT_THAT(teams, testing::ElementsAre(-1, 0, 1, 2, 3, 4, 8));
}

TEST(ArbitraryTrial, BatchesRespectTheLargest) {
  for (std::uint64_t s = 0; s < 200; ++s) EXPECT_LE(drawn(with_batch(kBase, 9), s).batch, 9);
}

}  // namespace
}  // namespace bic
