#include "harness/run/model_perf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "results_schema/error.h"

namespace bic {
namespace {

using nlohmann::json;

TEST(PostMetrics, AreThoseOfTheirDefinition) {
  const PostMetrics m = post_metrics(std::vector{3.0, -4.0}, std::vector{3.0, -4.5});
  EXPECT_EQ(m.max_abs_diff, 0.5);
  EXPECT_EQ(m.mean_abs_diff, 0.25);
  EXPECT_DOUBLE_EQ(m.rmse, 0.5 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(m.relative_l2_mean, 0.1);
  EXPECT_EQ(m.relative_l2_max, m.relative_l2_mean);
  EXPECT_EQ(m.output_abs_max, 4.5);
}

/// A model of one float that is a batch's size times `drift`; a pass takes 10 ns a request.
AskStudy model(std::vector<json>& asked, float drift) {
  return [&asked, drift](const std::string&, const json& request, const auto& room) {
    asked.push_back(request);
    const std::size_t batch = request.at("requests").size();
    const float y = 1 + drift * static_cast<float>(batch - 1);
    std::memcpy(room.bytes().data(), &y, sizeof y);
    return json{{"nanoseconds", 10 * batch}, {"dtype", "fp32"}, {"elements", 1}};
  };
}

TEST(TimeModel, GivesThePostsNumbersAndThatOfEqualBits) {
  std::vector<json> asked, asked_stock;
  const TimedModel backend(model(asked, 0), {}, 2), stock(model(asked_stock, 0.5F), {}, 2);
  const ModelPerf perf = time_model(backend, &stock, {4}, 3);
  const json post = post_json(perf, perf.batches.at(0));
  EXPECT_EQ(post.at("batch_size"), 4);
  EXPECT_EQ(post.at("distractor_samples"), 3);
  EXPECT_EQ(post.at("num_trials"), 3);
  EXPECT_DOUBLE_EQ(post.at("reference_seconds"), 10e-9);
  EXPECT_DOUBLE_EQ(post.at("batch_seconds_mean"), 40e-9);
  EXPECT_EQ(post.at("batch_seconds_std"), 0);
  EXPECT_DOUBLE_EQ(post.at("throughput_speedup_vs_reference"), 1);
  EXPECT_EQ(post.at("metrics_worst").at("max_abs_diff"), 0);
  EXPECT_EQ(post.at("bi_conform").at("trials_of_equal_bits"), 3);
  EXPECT_EQ(post.at("bi_conform").at("ratio_to_stock_ppm"), 1'000'000);
  EXPECT_EQ(asked.size(), 1 + 1 + 3u) << "a warm-up, the reference, the trials";
}

TEST(TimeModel, PutsNewDistractorsBehindTheReferenceInEachTrial) {
  std::vector<json> asked;
  const TimedModel backend(model(asked, 0), {}, 2);
  time_model(backend, nullptr, {3}, 2);
  EXPECT_EQ(asked.at(2).at("requests"), (json{0, 1, 2}));
  EXPECT_EQ(asked.at(3).at("requests"), (json{0, 3, 4}));
}

TEST(TimeModel, CountsNoTrialOfOtherBits) {
  std::vector<json> asked;
  const TimedModel backend(model(asked, 0.5F), {}, 2);
  const ModelPerf perf = time_model(backend, nullptr, {1, 3}, 2);
  const json alone = post_json(perf, perf.batches.at(0)),
             post = post_json(perf, perf.batches.at(1));
  EXPECT_EQ(alone.at("bi_conform").at("trials_of_equal_bits"), 2);
  EXPECT_EQ(post.at("bi_conform").at("trials_of_equal_bits"), 0);
  EXPECT_EQ(post.at("metrics_mean").at("max_abs_diff"), 1);
  EXPECT_FALSE(post.at("bi_conform").contains("ratio_to_stock_ppm"));
}

TEST(TimeModel, RefusesAnAnswerThatIsNone) {
  const TimedModel backend(
      [](const auto&, const auto&, const auto&) {
        return json{{"elements", 1}};
      },
      {},
      2);
  EXPECT_THROW(backend.pass({0}), HarnessError);
}

}  // namespace
}  // namespace bic
