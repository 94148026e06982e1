#include "harness/plan/arrangement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "generators/dims.h"
#include "harness/plan/prepare.h"

namespace bic {
namespace {

const std::vector<SampleId> kTelling{{4}, {11}, {250}};

Problem problem_of_op(std::string_view op, DType dtype, Law law, Dims dims) {
  const OpSpec* spec = find_op(op);
  return {.op = spec,
          .variant = &spec->variants[0],
          .dtype = dtype,
          .dims = std::move(dims),
          .attributes = {},
          .law = law,
          .seed = Seed{99}};
}

Problem product() {
  return problem_of_op("mm", DType::kFloat32, Law::kCancel, {{"k", 64}, {"n", 3}});
}
Problem sweep() { return problem_of_op("gelu", DType::kBFloat16, Law::kSweep, {{"h", 15}}); }

std::vector<Slot> arranged(const Trial& trial,
                           const Problem& problem = product(),
                           std::optional<Law> law = {}) {
  return arrange(problem, kTelling, planned(trial, law));
}

/// Every trial with a telling sample at every position that a batch may give it.
std::vector<Trial> trials() {
  std::vector<Trial> all;
  for (std::int64_t batch : batch_sizes()) {
    for (std::int64_t at : positions(batch)) {
      for (SampleId s : kTelling) all.push_back({.batch = batch, .position = at, .sample = s});
    }
  }
  return all;
}

TEST(Arrange, PutsTheNamedSampleAtItsPosition) {
  for (const Trial& t : trials()) {
    const auto slots = arranged(t);
    ASSERT_EQ(slots.size(), static_cast<std::size_t>(t.batch));
    EXPECT_EQ(slots[t.position], (Slot{t.sample, {}})) << to_string(t);
  }
}

TEST(Arrange, PlacesEveryTellingSampleOnceAndAtEqualDistances) {
  for (const Trial& t : trials()) {
    if (t.batch < 3) continue;
    const auto slots = arranged(t);
    std::vector<std::int64_t> at;
    for (SampleId s : kTelling) {
      ASSERT_EQ(std::ranges::count(slots, Slot{s, {}}), 1) << to_string(t);
      at.push_back(std::ranges::find(slots, Slot{s, {}}) - slots.begin());
    }
    const std::int64_t step = t.batch / 3;
    EXPECT_EQ((at[1] - at[0] + t.batch) % t.batch, step) << to_string(t);
    EXPECT_EQ((at[2] - at[1] + t.batch) % t.batch, step) << to_string(t);
  }
}

TEST(Arrange, DoesNotCareWhichTellingSampleTheTrialNames) {
  for (std::int64_t batch : batch_sizes()) {
    if (batch < 3) continue;
    const auto slots = arranged({.batch = batch, .position = batch / 2, .sample = kTelling[0]});
    for (SampleId other : kTelling) {
      const std::int64_t at = std::ranges::find(slots, Slot{other, {}}) - slots.begin();
      EXPECT_EQ(arranged({.batch = batch, .position = at, .sample = other}), slots);
    }
  }
}

TEST(Arrange, FillsUpWithNeighboursThatAreNoTellingSamples) {
  const auto slots = arranged({.batch = 33, .position = 5, .sample = kTelling[1]});
  const auto others = std::ranges::count_if(
      slots, [](const Slot& s) { return std::ranges::find(kTelling, s.id) == kTelling.end(); });
  EXPECT_EQ(others, 30);
  EXPECT_EQ(slots, arranged({.batch = 33, .position = 5, .sample = kTelling[1]}));
}

TEST(Arrange, DrawsOtherNeighboursForAnotherSetAndLeavesTheTellingSamples) {
  Trial t{.batch = 33, .position = 5, .sample = kTelling[1]};
  const auto plain = arranged(t);
  t.neighbours = 1;
  const auto others = arranged(t, product(), Law::kNan);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool telling = std::ranges::find(kTelling, plain[i].id) != kTelling.end();
    EXPECT_EQ(plain[i] == others[i], telling) << i;
    if (!telling) {
      EXPECT_EQ(others[i].law, Law::kNan);
    }
  }
}

TEST(Arrange, IgnoresTheNeighbourLawWhereNoOtherNeighboursStand) {
  const Trial t{.batch = 33, .position = 5, .sample = kTelling[1]};
  EXPECT_EQ(planned(t, Law::kNan), planned(t, {}));
}

TEST(Arrange, LeavesRoomForNeighboursWhereTheTrialIsAboutThem) {
  for (const Problem& p : {product(), sweep()}) {
    for (std::int64_t batch : {2, 3, 9}) {
      const auto slots =
          arranged({.batch = batch, .position = 1, .sample = kTelling[1], .neighbours = 1}, p);
      EXPECT_EQ(slots[1].id, kTelling[1]);
      EXPECT_TRUE(std::ranges::any_of(slots, [](const Slot& s) {
        return s.id.value >= kFirstNeighbour;
      })) << batch;
    }
  }
}

TEST(Arrange, PermutesEveryBatchOfTwoAndThree) {
  for (std::int64_t batch : {2, 3}) {
    for (int permutation : {1, 2, 3, 4, 5, 6, 7, 8}) {
      Trial t{.batch = batch, .sample = kTelling[0]};
      const auto straight = arranged(t);
      t.permutation = permutation;
      EXPECT_NE(arranged(t), straight) << batch << " " << permutation;
    }
  }
}

TEST(Arrange, FillsTwinsWithCopies) {
  for (const Slot& s : arranged({.batch = 17, .sample = {8}, .company = Company::kTwins})) {
    EXPECT_EQ(s, (Slot{{8}, {}}));
  }
}

TEST(Arrange, PermutesTheStraightBatch) {
  Trial t{.batch = 33, .position = 32, .sample = kTelling[2]};
  auto straight = arranged(t);
  t.permutation = 1;
  auto first = arranged(t);
  t.permutation = 2;
  const auto second = arranged(t);
  EXPECT_NE(first, straight);
  EXPECT_NE(first, second);
  std::ranges::sort(straight);
  std::ranges::sort(first);
  EXPECT_EQ(first, straight);
}

TEST(Arrange, TakesASampleThatIsNotTelling) {
  const auto slots = arranged({.batch = 5, .position = 2, .sample = {77}});
  EXPECT_EQ(slots[2].id, SampleId{77});
}

TEST(Arrange, WalksASweepInConsecutiveIds) {
  const Problem p = sweep();
  const std::int64_t all = sweep_samples(p);
  EXPECT_EQ(all, 4370);
  const auto slots = arranged({.batch = all, .position = 9, .sample = {3}}, p);
  for (std::int64_t i = 0; i < all; ++i) {
    EXPECT_EQ(slots[i].id.value, (3 - 9 + i + all) % all);
  }
}

/// Trials as relations make them, on a problem and on a sweep.
void expect_equal_arrangements(const Problem& problem,
                               const Trial& trial,
                               std::map<PlannedTrial, std::vector<Slot>>& seen) {
  const PlannedTrial from = planned(trial, {}), to = canonical(problem, kTelling, from);
  const auto slots = arrange(problem, kTelling, from);
  EXPECT_EQ(arrange(problem, kTelling, to), slots) << to_string(trial);
  EXPECT_EQ(canonical(problem, kTelling, to), to) << to_string(trial);
  const auto [at, added] = seen.emplace(to, slots);
  if (!added) {
    EXPECT_EQ(at->second, slots);
  }
}

TEST(Canonical, HasTheArrangementOfTheTrialItStandsFor) {
  std::map<PlannedTrial, std::vector<Slot>> plain, swept;
  for (Trial t : trials()) {
    expect_equal_arrangements(product(), t, plain);
    expect_equal_arrangements(sweep(), t, swept);
    t.permutation = 1;
    expect_equal_arrangements(product(), t, plain);
    t.neighbours = 1;
    expect_equal_arrangements(product(), t, plain);
    t.company = Company::kTwins;
    expect_equal_arrangements(product(), t, plain);
  }
  EXPECT_LT(plain.size(), 4 * trials().size()) << "some trials must share a run";
}

TEST(Canonical, IsOneForTheSamplesOfOneBatch) {
  const Problem p = sweep();
  const std::int64_t all = sweep_samples(p);
  const PlannedTrial first =
      canonical(p, kTelling, planned({.batch = all, .position = 0, .sample = {0}}, {}));
  for (std::uint32_t i = 0; i < 100; ++i) {
    const Trial t{.batch = all, .position = i, .sample = {i}};
    EXPECT_EQ(canonical(p, kTelling, planned(t, {})), first);
  }
}

}  // namespace
}  // namespace bic
