#include "harness/plan/telling.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "harness/plan/arrangement.h"
#include "harness/plan/plan.h"

namespace bic {
namespace {

Problem product(DType dtype, Law law, std::int64_t k, std::uint64_t seed = 5) {
  const OpSpec* op = find_op("mm");
  return {.op = op,
          .variant = &op->variants[0],
          .dtype = dtype,
          .dims = {{"k", k}, {"n", 3}},
          .attributes = {},
          .law = law,
          .seed = Seed{seed}};
}

TEST(FindTelling, FindsAtMostThreeSamplesUnderCancel) {
  for (DType t : kAllDTypes) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Telling telling = find_telling(Inputs(product(t, Law::kCancel, 96, seed)));
      EXPECT_TRUE(telling.told_apart) << name(t) << " seed " << seed;
      EXPECT_GE(telling.samples.size(), 1u);
      EXPECT_LE(telling.samples.size(), 3u);
      EXPECT_GE(telling.searched, static_cast<int>(telling.samples.size()));
    }
  }
}

TEST(FindTelling, TakesMoreSamplesWhereASixteenBitOutputSeesLittle) {
  const OpSpec* op = find_op("softmax");
  const auto samples = [&](DType dtype) {
    return find_telling(Inputs({.op = op,
                                .variant = &op->variants[0],
                                .dtype = dtype,
                                .dims = {{"h", 200}},
                                .attributes = {},
                                .law = Law::kEdge,
                                .seed = Seed{5}}))
        .samples.size();
  };
  EXPECT_EQ(samples(DType::kBFloat16), 8u);
  EXPECT_EQ(samples(DType::kFloat16), 8u);
  EXPECT_LE(samples(DType::kFloat32), 3u);
}

TEST(FindTelling, GivesUpWhereSumsAreExact) {
  for (Law law : {Law::kOnes, Law::kIntegers}) {
    const Telling telling = find_telling(Inputs(product(DType::kFloat32, law, 64)));
    EXPECT_FALSE(telling.told_apart);
    EXPECT_EQ(telling.samples.size(), 1u) << "one arbitrary sample";
    EXPECT_EQ(telling.searched, 500);
  }
}

TEST(FindTelling, CountsTheOutputsThatEachControlChanges) {
  std::int64_t compared = 0;
  std::map<Order, std::int64_t> changed;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Telling t = find_telling(Inputs(product(DType::kBFloat16, Law::kCancel, 96, seed)));
    EXPECT_EQ(t.compared, static_cast<std::int64_t>(3 * t.samples.size()));
    compared += t.compared;
    for (const auto& [order, count] : t.changed) changed[order] += count;
  }
  EXPECT_EQ(changed.size(), kControlOrders.size());
  for (const auto& [order, count] : changed) {
    EXPECT_GE(2 * count, compared) << "half of the outputs, by order " << static_cast<int>(order);
    EXPECT_LE(count, compared);
  }
  EXPECT_EQ(find_telling(Inputs(product(DType::kFloat32, Law::kOnes, 64))).compared, 0);
}

TEST(FindTelling, IsAFunctionOfTheProblem) {
  const Problem p = product(DType::kBFloat16, Law::kCancel, 200);
  const Telling first = find_telling(Inputs(p)), second = find_telling(Inputs(p));
  EXPECT_EQ(first.samples, second.samples);
  EXPECT_EQ(first.searched, second.searched);
}

TEST(FindTelling, FindsSamplesOnWhichEveryPairOfControlsDiffers) {
  const Inputs inputs(product(DType::kFloat32, Law::kCancel, 96));
  const std::vector<std::int64_t> elements{0, 1, 2};
  std::set<std::pair<Order, Order>> apart;
  for (SampleId id : find_telling(inputs).samples) {
    inputs.with_operands(inputs.sample(id), [&](const Operands& o) {
      for (Order a : kControlOrders) {
        for (Order b : kControlOrders) {
          std::vector<double> x(3), y(3);
          inputs.problem().op->reference->control(o, DType::kFloat32, a, elements, x);
          inputs.problem().op->reference->control(o, DType::kFloat32, b, elements, y);
          if (std::memcmp(x.data(), y.data(), 3 * sizeof(double)) != 0) apart.emplace(a, b);
        }
      }
    });
  }
  EXPECT_EQ(apart.size(), 6u) << "three orders, each against two others";
}

TEST(FindTelling, AsksNothingOfProblemsThatNeedNoControls) {
  Problem p = product(DType::kFloat32, Law::kOnes, 64);
  p.accuracy = true;
  const Telling telling = find_telling(Inputs(p));
  EXPECT_TRUE(telling.told_apart);
  EXPECT_EQ(telling.searched, 0);
}

/// How often each 16-bit pattern is an input of a telling sample of the six shares of a sweep.
std::vector<int> inputs_met(const Variant& variant, DType dtype) {
  const OpSpec& gelu = *find_op("gelu");
  std::vector<int> met(65536);
  for (int share = 0; share < 6; ++share) {
    const Inputs inputs(draw({&gelu, &variant, dtype, Law::kSweep, share, false}, Seed{3}, {}, 0));
    for (SampleId id : find_telling(inputs).samples) {
      const std::vector<std::byte> x = inputs.sample(id)[0];
      for (std::size_t at = 0; at < x.size(); at += 2) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, x.data() + at, 2);
        ++met[bits];
      }
    }
  }
  return met;
}

TEST(FindTelling, SharesOutEveryInputOfASixteenBitType) {
  for (DType t : {DType::kBFloat16, DType::kFloat16}) {
    for (const Variant& v : find_op("gelu")->variants) {
      const std::vector<int> met = inputs_met(v, t);
      int twice = 0;
      for (std::size_t bits = 0; bits < met.size(); ++bits) {
        ASSERT_GE(met[bits], 1) << name(t) << " misses input " << bits;
        twice += met[bits] > 1;
      }
      EXPECT_LT(twice, 15) << "the last sample wraps round";
    }
  }
}

TEST(FindTelling, GivesEveryShareASampleWhereARowHoldsManyInputs) {
  const OpSpec& gelu = *find_op("gelu");
  for (std::int64_t h : {10922, 16384, 65536, 100000}) {
    for (int share = 0; share < 6; ++share) {
      const ProblemPlan plan{&gelu, &gelu.variants[0], DType::kBFloat16, Law::kSweep, share, false};
      const Inputs inputs(draw(plan, Seed{3}, {{"h", h}}, 0));
      const Telling telling = find_telling(inputs);
      ASSERT_FALSE(telling.samples.empty()) << "h " << h << " share " << share;
      EXPECT_LT(telling.samples.back().value, sweep_samples(inputs.problem()));
    }
  }
}

TEST(SpreadElements, HoldsFirstAndLastAndNoMoreThanAsked) {
  EXPECT_EQ(spread_elements(5, 9), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(spread_elements(100, 3), (std::vector<std::int64_t>{0, 49, 99}));
  EXPECT_EQ(spread_elements(100, 1), (std::vector<std::int64_t>{0}));
}

}  // namespace
}  // namespace bic
