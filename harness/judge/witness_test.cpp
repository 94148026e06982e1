#include "harness/judge/witness.h"

#include <gtest/gtest.h>

#include "adapters/protocol/gather.h"

namespace bic {
namespace {

using protocol::ProblemMessage;
using protocol::TrialMessage;
using protocol::Witness;

/// A product of 3 samples of 8 with a weight [8, 5], in fp32.
ProblemMessage product() {
  ProblemMessage p;
  p.dims = {{"k", 8}, {"n", 5}};
  p.inputs = {{.name = "x", .axes = {"B", "k"}}, {.name = "w", .axes = {"k", "n"}}};
  p.output = {.name = "y", .axes = {"B", "n"}};
  return p;
}

TrialMessage trial(const Trial& layout = {}) { return {.slots = {0, 1, 2}, .trial = layout}; }

/// What a worker that did as asked reports.
Witness honest(const TrialMessage& t) {
  Witness w;
  for (const auto& input : product().inputs) {
    const auto plan = protocol::plan_tensor(product(), input, t);
    w.address_mod_64.push_back(plan.offset * 4 % 64);
    w.strides.push_back(plan.strides);
    w.shapes.push_back(plan.shape);
  }
  w.form = name(t.trial.form);
  w.gave_output = t.trial.form != Form::kFunctional;
  return w;
}

std::vector<TrialMessage> layouts() {
  return {trial(),
          trial({.offset = 3}),
          trial({.row_gap = 5}),
          trial({.storage = Storage::kTransposed}),
          trial({.form = Form::kOut}),
          trial({.form = Form::kChunk}),
          trial({.pad_dim = "k", .pad = 8}),
          {.slots = {0, 1}, .trial = {}}};
}

TEST(ShowsLayout, HoldsForWhatWasAskedAndForNothingElse) {
  const auto all = layouts();
  for (std::size_t asked = 0; asked < all.size(); ++asked) {
    for (std::size_t done = 0; done < all.size(); ++done) {
      EXPECT_EQ(shows_layout(product(), all[asked], honest(all[done])), asked == done)
          << asked << " " << done;
    }
  }
}

TEST(ShowsLayout, RefusesAnotherNumberOfInputsOrAxes) {
  Witness w = honest(trial());
  w.strides.pop_back();
  EXPECT_FALSE(shows_layout(product(), trial(), w));
  w = honest(trial());
  w.address_mod_64.push_back(0);
  EXPECT_FALSE(shows_layout(product(), trial(), w));
  w = honest(trial());
  w.strides[0].push_back(1);
  EXPECT_FALSE(shows_layout(product(), trial(), w));
  EXPECT_FALSE(shows_layout(product(), trial(), Witness{}));
}

TEST(ShowsChange, NeedsOtherBytesWhereTheBatchWasRearranged) {
  const Witness here{.input_digest = 1, .calls = 1}, there{.input_digest = 2, .calls = 2};
  for (const Trial& other : {Trial{.permutation = 1}, Trial{.neighbours = 1}}) {
    EXPECT_TRUE(shows_change(other, here, {}, there));
    EXPECT_FALSE(shows_change(other, here, {}, here));
  }
  EXPECT_TRUE(shows_change({.offset = 3}, here, {}, here)) << "the layout shows that";
}

TEST(ShowsChange, NeedsAnotherCallWhereATrialWasRunAgain) {
  const Witness first{.calls = 1}, second{.calls = 2};
  EXPECT_TRUE(shows_change({.run = 1}, second, {}, first));
  EXPECT_FALSE(shows_change({.run = 1}, first, {}, first));
  EXPECT_TRUE(shows_change({.run = 1, .worker = 1}, first, {}, first)) << "each process counts";
}

TEST(ShowsLayout, ChecksTheSecondInputToo) {
  Witness w = honest(trial());
  w.strides[1][0] = 6;
  EXPECT_FALSE(shows_layout(product(), trial(), w));
  w = honest(trial());
  w.address_mod_64[1] = 4;
  EXPECT_FALSE(shows_layout(product(), trial(), w));
}

TEST(ShowsLayout, IgnoresTheStrideOfASingleIndex) {
  const TrialMessage one{.slots = {0}, .trial = {}};
  Witness w = honest(one);
  w.strides[0][0] = 12345;
  EXPECT_TRUE(shows_layout(product(), one, w));
}

Witness team(int threads) {
  Witness w;
  w.largest_team = threads;
  return w;
}

TEST(ThreadFault, IsNothingWhereTheTeamAskedForRan) {
  EXPECT_EQ(thread_fault(4, team(4), team(2)), std::nullopt);
  EXPECT_EQ(thread_fault(4, team(4), team(1)), std::nullopt);
  EXPECT_EQ(thread_fault(1, team(1), team(2)), std::nullopt);
  EXPECT_EQ(thread_fault(1, team(0), team(2)), std::nullopt);
}

TEST(ThreadFault, SaysWhenNoRegionWasOpened) {
  EXPECT_EQ(thread_fault(4, team(1), team(1)), Reason::kNoParallelRegion);
  EXPECT_EQ(thread_fault(4, team(0), team(0)), Reason::kNoParallelRegion);
  EXPECT_EQ(thread_fault(1, team(1), team(1)), Reason::kNoParallelRegion);
}

TEST(ThreadFault, IsAWitnessAmissWhereTeamsCannotBeSeen) {
  EXPECT_EQ(thread_fault(4, team(-1), team(-1)), Reason::kWitness);
  EXPECT_EQ(thread_fault(1, team(1), team(-1)), Reason::kWitness);
}

TEST(ThreadFault, SeesAnotherTeamThanAskedFor) {
  EXPECT_EQ(thread_fault(4, team(2), team(2)), Reason::kWitness);
  EXPECT_EQ(thread_fault(4, team(8), team(2)), Reason::kWitness);
  EXPECT_EQ(thread_fault(4, team(1), team(2)), Reason::kWitness);
  EXPECT_EQ(thread_fault(1, team(2), team(2)), Reason::kWitness);
}

}  // namespace
}  // namespace bic
