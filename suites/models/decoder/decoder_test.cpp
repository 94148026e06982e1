#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "results_schema/error.h"
#include "suites/models/decoder/forward.h"
#include "suites/models/decoder/plain_decoder.h"
#include "suites/models/decoder/presets.h"
#include "suites/models/decoder/temperature_zero.h"
#include "suites/models/decoder/test_requests.h"
#include "suites/models/pi0/parameters.h"

namespace bic::decoder {
namespace {

using testing::HasSubstr;

class Decoder : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
};

/// The largest distance of `served` from the plain decoder's logits, and how much its token is
/// worth less than the best one there.
struct Off {
  double logits = 0;
  double token = 0;
};

Off off_plain(const std::vector<double>& plain, const at::Tensor& served, std::int64_t token) {
  const at::Tensor wide = served.to(at::kDouble);
  Off off;
  for (std::size_t v = 0; v < plain.size(); ++v) {
    const double got = wide.const_data_ptr<double>()[v];
    off.logits = std::max(off.logits, std::abs(got - plain[v]));
  }
  off.token =
      *std::max_element(plain.begin(), plain.end()) - plain[static_cast<std::size_t>(token)];
  return off;
}

/// Every logit and token of a busy server, against the plain decoder on the same tokens.
Off off_plain(const pi0::Model& model, const std::vector<Request>& requests, const Load& load) {
  std::map<std::pair<std::int64_t, std::int64_t>, at::Tensor> logits;
  const Service service =
      serve(model, requests, load, [&](const Request& r, std::int64_t i, const at::Tensor& x) {
        logits[{r.id, i}] = x.clone();
      });
  const PlainDecoder plain(model);
  Off worst;
  for (const Completion& c : service.completions) {
    std::vector<std::int64_t> tokens = c.request.prompt;
    for (std::size_t i = 0; i < c.tokens.size(); ++i) {
      const Off off = off_plain(plain.logits(tokens),
                                logits.at({c.request.id, static_cast<std::int64_t>(i)}),
                                c.tokens[i]);
      worst = {std::max(worst.logits, off.logits), std::max(worst.token, off.token)};
      tokens.push_back(c.tokens[i]);
    }
  }
  return worst;
}

std::vector<Request> some_requests(const pi0::Config& config, const Load& load) {
  return requests_of(
      config, {.prompt = prompt(7), .new_tokens = 4, .requests = 3, .others = 9, .load = load});
}

TEST_P(Decoder, Fp32IsWithinItsRoundingOfThePlainDecoder) {
  const pi0::Model model = synthetic_model(GetParam());
  const Load load{.seed = {5}};
  const Off off = off_plain(model, some_requests(model.config, load), load);
  EXPECT_LT(off.logits, 1e-5);
  EXPECT_LT(off.token, 2e-5);
}

TEST_P(Decoder, DoubleIsThePlainDecoder) {
  const pi0::Model model = synthetic_model(GetParam(), at::kDouble);
  const Load load{.seed = {6}};
  const Off off = off_plain(model, some_requests(model.config, load), load);
  EXPECT_LT(off.logits, 1e-6);  // frequencies are made in fp32
  EXPECT_LT(off.token, 2e-6);
}

TEST_P(Decoder, ServesEveryRequestOnceToItsLength) {
  const pi0::Model model = synthetic_model(GetParam());
  for (const std::uint64_t seed : {1, 2, 3}) {
    Question q = question(seed);
    q.requests = 12, q.others = 20;
    const std::vector<Request> requests = requests_of(model.config, q);
    std::map<std::int64_t, std::int64_t> seen;
    const auto count = [&](const Request& r, std::int64_t position, const at::Tensor&) {
      EXPECT_EQ(position, seen[r.id]++);
    };
    const Service service = serve(model, requests, q.load, count);
    ASSERT_EQ(service.completions.size(), requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Completion& c = service.completions[i];
      EXPECT_EQ(c.request.id, requests[i].id);
      EXPECT_EQ(std::ssize(c.tokens), requests[i].new_tokens);
      EXPECT_EQ(std::ssize(c.log_probabilities), requests[i].new_tokens);
      EXPECT_EQ(seen[c.request.id], requests[i].new_tokens);
    }
  }
}

TEST_P(Decoder, LoadIsAFunctionOfItsSeed) {
  const pi0::Model model = synthetic_model(GetParam());
  Question q = question(1);
  q.requests = 10, q.others = 10;
  const std::vector<Request> requests = requests_of(model.config, q);
  const auto order = [&](std::uint64_t seed) {
    std::vector<std::int64_t> ids;
    q.load.seed = {seed};
    serve(model, requests, q.load, [&](const Request& r, std::int64_t, const at::Tensor&) {
      ids.push_back(r.id);
    });
    return ids;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

INSTANTIATE_TEST_SUITE_P(Presets, Decoder, testing::Values("tiny", "tiny-ragged"), [](auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(DecoderPresets, HaveTheirSizes) {
  const auto elements = [](const char* name) {
    std::int64_t total = 0;
    for (const pi0::Parameter& p : pi0::language_parameters(preset(name))) total += p.elements();
    return total;
  };
  EXPECT_EQ(elements("tiny"), 149952);
  EXPECT_EQ(elements("tiny-ragged"), 108360);
  EXPECT_EQ(elements("gemma-2b"), 2508531712);
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

TEST(DecoderPresets, WrongUseIsOneLine) {
  const pi0::Model model = synthetic_model("tiny");
  EXPECT_THAT(error_of([] { preset("tiny-raged"); }), HasSubstr("tiny-ragged"));
  EXPECT_THAT(error_of([&] { serve(model, {{4, {}, 1}}, {}); }), HasSubstr("request 4"));
  EXPECT_THAT(error_of([&] { serve(model, {{4, {320}, 1}}, {}); }), HasSubstr("0 to 319"));
  EXPECT_THAT(error_of([&] { serve(model, {{4, {1}, 0}}, {}); }), HasSubstr("at least 1"));
  EXPECT_THAT(error_of([&] {
                serve(model, {{4, {1}, 1}}, {.max_batch = 0});
              }),
              HasSubstr("max_batch"));
  EXPECT_THAT(error_of([&] { ask(model, {.prompt = {1}, .requests = 0}); }), HasSubstr("once"));
}

}  // namespace
}  // namespace bic::decoder
