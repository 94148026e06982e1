#include "adapters/protocol/gather.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "results_schema/error.h"

namespace bic::protocol {
namespace {

/// Two samples of x[B, m, k] with m = 2, k = 3: sample 0 holds 0…5, sample 1 holds 6…11.
class Gather : public testing::Test {
 protected:
  Gather() : values(12) {
    std::iota(values.begin(), values.end(), 0.0f);
    problem.dims = {{"m", 2}, {"k", 3}};
    x = {.name = "x", .axes = {"B", "m", "k"}, .pool_offset = 0, .pool_stride = 6 * 4};
  }

  /// The tensor of the trial, read through its plan; untouched elements are -1.
  std::vector<float> storage_of(const TrialMessage& trial, const TensorMessage& t) {
    plan = plan_tensor(problem, t, trial);
    std::vector<float> storage(plan.storage_elements, -1.0f);
    gather(problem,
           t,
           trial,
           std::as_bytes(std::span(values)),
           plan,
           reinterpret_cast<std::byte*>(storage.data() + plan.offset));
    return storage;
  }

  float at(const std::vector<float>& storage, std::vector<std::int64_t> index) const {
    std::int64_t where = plan.offset;
    for (std::size_t i = 0; i < index.size(); ++i) where += index[i] * plan.strides[i];
    return storage[where];
  }

  std::vector<float> values;
  ProblemMessage problem;
  TensorMessage x;
  TensorPlan plan;
  TrialMessage trial{.slots = {1, 0, 1}, .trial = {}, .threads = 1};
};

TEST_F(Gather, StacksTheSamplesInTheOrderOfTheSlots) {
  const auto storage = storage_of(trial, x);
  EXPECT_EQ(plan.shape, (std::vector<std::int64_t>{3, 2, 3}));
  EXPECT_EQ(plan.strides, (std::vector<std::int64_t>{6, 3, 1}));
  EXPECT_EQ(at(storage, {0, 1, 2}), 11);
  EXPECT_EQ(at(storage, {1, 1, 2}), 5);
}

TEST_F(Gather, ConcatenatesRowsOfASample) {
  x.axes = {"m*B", "k"};
  const auto storage = storage_of(trial, x);
  EXPECT_EQ(plan.shape, (std::vector<std::int64_t>{6, 3}));
  EXPECT_EQ(at(storage, {0, 0}), 6);
  EXPECT_EQ(at(storage, {3, 2}), 5);
}

TEST_F(Gather, PlacesTheBatchOnAnyAxis) {
  x.axes = {"m", "B", "k"};
  const auto storage = storage_of(trial, x);
  EXPECT_EQ(plan.shape, (std::vector<std::int64_t>{2, 3, 3}));
  EXPECT_EQ(at(storage, {1, 0, 0}), 9);
  EXPECT_EQ(at(storage, {1, 1, 0}), 3);
}

TEST_F(Gather, LaysOutByOffsetGapAndStorage) {
  trial.trial.offset = 3;
  trial.trial.row_gap = 2;
  auto storage = storage_of(trial, x);
  EXPECT_EQ(plan.offset, 3);
  EXPECT_EQ(plan.strides, (std::vector<std::int64_t>{10, 5, 1}));
  EXPECT_EQ(at(storage, {2, 1, 1}), 10);
  EXPECT_EQ(storage[3 + 3], -1) << "the gap behind a row is not written";
  trial.trial.row_gap = 0;
  trial.trial.storage = Storage::kTransposed;
  storage = storage_of(trial, x);
  EXPECT_EQ(plan.strides, (std::vector<std::int64_t>{6, 1, 2}));
  EXPECT_EQ(at(storage, {2, 1, 1}), 10);
  trial.trial.storage = Storage::kOuterSwapped;
  storage = storage_of(trial, x);
  EXPECT_EQ(plan.strides, (std::vector<std::int64_t>{3, 9, 1}));
  EXPECT_EQ(at(storage, {2, 1, 1}), 10);
}

TEST_F(Gather, ExpandsTwinsOverOneBlock) {
  trial.slots = {1, 1, 1};
  trial.trial.storage = Storage::kExpanded;
  const auto storage = storage_of(trial, x);
  EXPECT_EQ(plan.strides, (std::vector<std::int64_t>{0, 3, 1}));
  EXPECT_EQ(plan.storage_elements, 6);
  EXPECT_EQ(at(storage, {2, 1, 2}), 11);
}

TEST_F(Gather, PadsWithZeros) {
  trial.trial.pad_dim = "k";
  trial.trial.pad = 2;
  const auto storage = storage_of(trial, x);
  EXPECT_EQ(plan.shape, (std::vector<std::int64_t>{3, 2, 5}));
  EXPECT_EQ(at(storage, {0, 1, 2}), 11);
  EXPECT_EQ(at(storage, {0, 1, 3}), 0);
  EXPECT_EQ(at(storage, {2, 0, 4}), 0);
}

TEST_F(Gather, SharesCommonTensorsWhole) {
  const TensorMessage w{.name = "w", .axes = {"m", "k"}, .pool_offset = 24, .pool_stride = 0};
  const auto storage = storage_of(trial, w);
  EXPECT_EQ(plan.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(at(storage, {1, 2}), 11);
}

TEST_F(Gather, RefusesSamplesOutsideThePool) {
  trial.slots = {2};
  EXPECT_THROW(storage_of(trial, x), HarnessError);
}

TEST_F(Gather, RefusesAxesItDoesNotKnow) {
  x.axes = {"B", "q"};
  EXPECT_THROW(storage_of(trial, x), HarnessError);
}

TEST_F(Gather, CopiesAStridedTensorOut) {
  trial.trial.storage = Storage::kTransposed;
  const auto storage = storage_of(trial, x);
  std::vector<float> dense(18);
  copy_out(plan.shape,
           plan.strides,
           4,
           reinterpret_cast<const std::byte*>(storage.data()),
           reinterpret_cast<std::byte*>(dense.data()));
  EXPECT_EQ(dense[0], 6);
  EXPECT_EQ(dense[17], 11);
  EXPECT_EQ(dense[9], 3);
}

TEST_F(Gather, PadsWithNanWhereAsked) {
  trial.trial.pad_dim = "k";
  trial.trial.pad = 2;
  trial.trial.pad_nan = true;
  const auto storage = storage_of(trial, x);
  EXPECT_EQ(at(storage, {0, 0, 2}), 8);
  EXPECT_TRUE(std::isnan(at(storage, {0, 0, 3})));
  EXPECT_TRUE(std::isnan(at(storage, {2, 1, 4})));
}

TEST_F(Gather, PadsWhatMasksWithMinusInf) {
  trial.trial.pad_dim = "k";
  trial.trial.pad = 2;
  x.masks = true;
  for (bool nan : {false, true}) {
    trial.trial.pad_nan = nan;
    const auto storage = storage_of(trial, x);
    EXPECT_EQ(at(storage, {0, 0, 2}), 8);
    EXPECT_EQ(at(storage, {0, 0, 3}), -std::numeric_limits<float>::infinity());
    EXPECT_EQ(at(storage, {2, 1, 4}), -std::numeric_limits<float>::infinity());
  }
}

TEST_F(Gather, WritesMinusInfInEveryDtype) {
  trial.slots = {0};
  trial.trial.pad_dim = "k";
  trial.trial.pad = 1;
  x = {.name = "x", .axes = {"k"}, .masks = true};
  const std::pair<const char*, std::uint64_t> minus_inf[] = {
      {"fp32", 0xff800000}, {"bf16", 0xff80}, {"fp16", 0xfc00}, {"fp64", 0xfff0000000000000}};
  for (const auto& [elements, bits] : minus_inf) {
    x.elements = elements;
    const auto size = static_cast<std::size_t>(element_size(elements));
    plan = plan_tensor(problem, x, trial);
    const std::vector<std::byte> pool(4 * size);
    std::vector<std::byte> storage(4 * size);
    gather(problem, x, trial, pool, plan, storage.data());
    std::uint64_t last = 0;
    std::memcpy(&last, storage.data() + 3 * size, size);
    EXPECT_EQ(last, bits) << elements;
  }
}

TEST_F(Gather, NeverPadsIndicesWithNan) {
  trial.trial.pad_dim = "k";
  trial.trial.pad = 1;
  trial.trial.pad_nan = true;
  const std::vector<std::int64_t> indices{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  x.elements = "int64";
  x.pool_stride = 6 * 8;
  plan = plan_tensor(problem, x, trial);
  std::vector<std::int64_t> storage(plan.storage_elements, -1);
  const auto pool = std::as_bytes(std::span(indices));
  gather(problem, x, trial, pool, plan, reinterpret_cast<std::byte*>(storage.data()));
  EXPECT_EQ(storage[2], 9);
  EXPECT_EQ(storage[3], 0);
}

TEST(ChangedBetweenElements, SeesGapsAndLeavesElementsAlone) {
  // Two rows of three floats, a gap of one between them, two floats before the first.
  const TensorPlan plan{.shape = {2, 3}, .strides = {4, 1}, .offset = 2, .storage_elements = 10};
  const std::vector<float> before(10, 1.0f);
  for (std::size_t changed = 0; changed < before.size(); ++changed) {
    std::vector<float> now = before;
    now[changed] = 2;
    const bool between = changed < 2 || changed == 5 || changed == 9;
    EXPECT_EQ(changed_between_elements(
                  plan, 4, std::as_bytes(std::span(before)), std::as_bytes(std::span(now))),
              between)
        << changed;
  }
}

}  // namespace
}  // namespace bic::protocol
