#include "suites/models/decoder/temperature_zero.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/roll.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <set>

#include "adapters/libtorch_invariant/registration.h"
#include "suites/models/decoder/presets.h"
#include "suites/models/decoder/test_requests.h"

namespace bic::decoder {
namespace {

class TemperatureZero : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
};

class TemperatureZeroFaults : public testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(1); }
};

void expect_consistent(const Question& q, const Answer& a) {
  EXPECT_EQ(a.requests, q.requests);
  EXPECT_GE(a.distinct, 1);
  EXPECT_LE(a.distinct, q.requests);
  EXPECT_TRUE(a.distinct == 1 || a.first_token);
  EXPECT_GE(a.least_lead, 0);
  EXPECT_LT(a.least_lead, 10);
  if (a.first_token) {
    EXPECT_TRUE(a.first_logit);
    EXPECT_NE(a.first_token->alone, a.first_token->served);
    EXPECT_EQ(a.first_token->alone, a.alone[static_cast<std::size_t>(a.first_token->position)]);
    EXPECT_LE(a.first_logit->position, a.first_token->position);
  }
  EXPECT_EQ(a.on_policy.different > 0, a.on_policy.first.has_value());
  EXPECT_EQ(a.on_policy.different > 0, a.on_policy.largest > 0);
  EXPECT_LT(a.on_policy.largest, 1e-4) << "of " << a.on_policy.tokens;
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < q.others; ++i) others += 1 + i % q.new_tokens;
  EXPECT_EQ(a.on_policy.tokens, q.requests * q.new_tokens + others);
}

void expect_busy(const Question& q, const Traffic& t) {
  EXPECT_EQ(t.batch_sizes, q.load.max_batch);
  EXPECT_EQ(t.largest_batch, q.load.max_batch);
  EXPECT_GT(t.mixed_passes, t.passes / 10);
  EXPECT_GT(t.cut_prompts, q.requests / 10);
  EXPECT_GT(t.reused_tokens, q.requests);
}

std::string text(const std::optional<ValueDifference>& d) {
  if (!d) return "none";
  return fmt::format("request {} token {}: vocabulary {} {:a} served {:a}",
                     d->request,
                     d->position,
                     d->token,
                     d->expected,
                     d->served);
}

void expect_invariant(const Answer& a) {
  EXPECT_EQ(a.distinct, 1);
  EXPECT_FALSE(a.first_token);
  EXPECT_FALSE(a.first_logit) << text(a.first_logit);
  EXPECT_EQ(a.on_policy.different, 0) << "of " << a.on_policy.tokens << ", largest "
                                      << a.on_policy.largest << ", " << text(a.on_policy.first);
  EXPECT_TRUE(a.is_invariant());
}

TEST_P(TemperatureZero, InvariantKernelsGiveOneAnswer) {
  const libtorch_invariant::Registration registration;
  const Question q = question(7);
  const Answer a = ask(synthetic_model(GetParam()), q);
  expect_busy(q, a.traffic);
  expect_consistent(q, a);
  expect_invariant(a);
}

TEST_P(TemperatureZero, InvariantKernelsGiveOneAnswerInBf16) {
  const libtorch_invariant::Registration registration;
  Question q = question(8);
  q.requests = 60, q.others = 20;
  expect_invariant(ask(synthetic_model(GetParam(), at::kBFloat16), q));
}

TEST_P(TemperatureZero, StockKernelsAreReported) {
  Question q = question(9);
  q.requests = 60, q.others = 20;
  const Answer a = ask(synthetic_model(GetParam()), q);
  expect_consistent(q, a);
  RecordProperty("distinct", static_cast<int>(a.distinct));
  RecordProperty("off_policy", static_cast<int>(a.on_policy.different));
}

/// ATen's linear, but whoever is in a batch of five is told so by its last bits ...
at::Tensor sums_fives_in_halves(const at::Tensor& x,
                                const at::Tensor& w,
                                const std::optional<at::Tensor>&) {
  const std::int64_t k = w.size(1), cut = x.size(0) == 5 ? k / 2 : k;
  const at::Tensor y = at::matmul(x.slice(-1, 0, cut), w.slice(1, 0, cut).t());
  return cut == k ? y : y + at::matmul(x.slice(-1, cut), w.slice(1, cut).t());
}

/// ... or by other logits altogether.
at::Tensor turns_the_logits_of_fives(const at::Tensor& x,
                                     const at::Tensor& w,
                                     const std::optional<at::Tensor>&) {
  const at::Tensor y = at::matmul(x, w.t());
  return x.dim() == 2 && x.size(0) == 5 ? at::roll(y, 1, 1) : y;
}

template <class Linear>
Answer answer_with(Linear* linear) {
  const libtorch_invariant::Registration registration;
  torch::Library library(torch::Library::IMPL, "aten", std::nullopt, __FILE__, __LINE__);
  library.impl("linear", torch::dispatch(c10::DispatchKey::CPU, linear));
  Question q = question(10);
  q.requests = 40;
  return ask(synthetic_model("tiny"), q);
}

TEST_F(TemperatureZeroFaults, OtherBitsInSomeBatchesAreSeen) {
  const Answer a = answer_with(sums_fives_in_halves);
  EXPECT_FALSE(a.is_invariant());
  EXPECT_TRUE(a.first_logit);
  EXPECT_EQ(a.first_logit->position, 0);
  EXPECT_GT(a.on_policy.different, 0);
  EXPECT_LT(a.on_policy.different, a.on_policy.tokens);
}

TEST_F(TemperatureZeroFaults, OtherTokensInSomeBatchesAreSeen) {
  const Answer a = answer_with(turns_the_logits_of_fives);
  EXPECT_FALSE(a.is_invariant());
  EXPECT_GT(a.distinct, 1);
  ASSERT_TRUE(a.first_token);
  EXPECT_NE(a.first_token->served, a.first_token->alone);
  EXPECT_GT(a.on_policy.largest, 0.1);
}

TEST_P(TemperatureZero, TheModelIsUndecided) {
  Question q = question(9);
  q.new_tokens = 16;
  const Service service =
      serve(synthetic_model(GetParam()), {{0, q.prompt, q.new_tokens}}, {.slots = 1});
  const Completion& c = service.completions[0];
  EXPECT_GE(std::set(c.tokens.begin(), c.tokens.end()).size(), 3u) << "repeats itself";
  for (const double log_p : c.log_probabilities) EXPECT_LT(log_p, -0.05);
}

INSTANTIATE_TEST_SUITE_P(Presets,
                         TemperatureZero,
                         testing::Values("tiny", "tiny-ragged"),
                         [](auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace bic::decoder
