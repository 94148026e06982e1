#include "adapters/libtorch/pi0_ops.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/max.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "adapters/libtorch/evaluator.h"
#include "results_schema/error.h"
#include "suites/models/pi0/synthetic.h"

namespace bic::libtorch {
namespace {

using testing::HasSubstr;

NamedTensors open_pi_zero_inputs(const char* preset, std::int64_t batch, at::ScalarType dtype) {
  const pi0::Inputs in = pi0::synthetic_inputs(pi0::preset(preset), batch, dtype);
  return {{"pixels", in.pixel_values},
          {"ids", in.input_ids},
          {"mask", in.attention_mask},
          {"proprios", in.proprios},
          {"noise", in.noise}};
}

/// Calls as the suite calls an op.
at::Tensor called(const NamedTensors& tensors, const std::string& text) {
  at::set_num_threads(1);  // sizes so small only wait for each other
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return Evaluator("(y) = " + text, names, {}, {}).run(tensors, "y");
}

std::string pi0_call(const std::string& preset, const std::string& more = "") {
  return "bic::pi0(pixels, ids, mask, proprios, noise, \"" + preset + "\"" + more + ")";
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return at::max(at::abs(at::sub(a.to(at::kDouble), b.to(at::kDouble)))).item<double>();
}

at::Tensor direct(const char* preset, std::int64_t batch, at::ScalarType dtype) {
  const pi0::Config c = pi0::preset(preset);
  const pi0::Model model(c, pi0::precision(c, dtype), pi0::synthetic_weights(c, dtype));
  return pi0::open_pi_zero(pi0::Pass(model), pi0::synthetic_inputs(c, batch, dtype));
}

TEST(Pi0Operators, ACallIsTheModelWithItsSyntheticWeights) {
  const Pi0Operators operators;
  for (const char* preset : {"tiny", "tiny-ragged", "tiny"}) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
      const at::Tensor y = called(open_pi_zero_inputs(preset, 3, dtype), pi0_call(preset));
      EXPECT_TRUE(at::equal(y, direct(preset, 3, dtype))) << preset << c10::toString(dtype);
    }
  }
}

TEST(Pi0Operators, Fp64InputsGiveTheValueWithoutRounding) {
  const Pi0Operators operators;
  const at::Tensor narrow = called(open_pi_zero_inputs("tiny", 2, at::kFloat), pi0_call("tiny"));
  // Inputs as the narrow model sees them, in more precision.
  NamedTensors wide = open_pi_zero_inputs("tiny", 2, at::kFloat);
  for (auto& [name, tensor] : wide) {
    if (tensor.is_floating_point()) tensor = tensor.to(at::kDouble);
  }
  const at::Tensor y = called(wide, pi0_call("tiny", ", weights=fp32"));
  EXPECT_EQ(y.scalar_type(), at::kDouble);
  EXPECT_LT(distance(y, narrow), 1e-6);
  EXPECT_GT(distance(y, called(wide, pi0_call("tiny", ", weights=bf16"))), 1e-4);
}

TEST(Pi0Operators, ThePrefixMayBeRecomputed) {
  const Pi0Operators operators;
  const NamedTensors in = open_pi_zero_inputs("tiny-ragged", 2, at::kFloat);
  EXPECT_LT(distance(called(in, pi0_call("tiny-ragged")),
                     called(in, pi0_call("tiny-ragged", ", reuse_prefix=False"))),
            1e-6);
}

TEST(Pi0Operators, TextAndLengthsStandForIdsAndMask) {
  const Pi0Operators operators;
  NamedTensors in = open_pi_zero_inputs("tiny", 4, at::kFloat);
  const at::Tensor y = called(in, pi0_call("tiny"));
  const std::int64_t images = pi0::preset("tiny").vision.tokens();
  // What is behind a length is not read.
  in["text"] = in["ids"].slice(1, images).clone();
  in["text"][2].slice(0, 2).fill_(7);
  in["lengths"] = in["mask"].sum(1) - images;
  EXPECT_TRUE(
      at::equal(y, called(in, "bic::pi0.text(pixels, text, lengths, proprios, noise, \"tiny\")")));
}

TEST(Pi0Operators, OpenPiIsCalledTheSameWay) {
  const Pi0Operators operators;
  const pi0::Config c = pi0::preset("tiny-openpi");
  const pi0::OpenPiInputs in = pi0::synthetic_openpi_inputs(c, 2);
  const NamedTensors tensors{{"pixels", at::stack(in.images, 1)},
                             {"cameras", in.image_mask},
                             {"ids", in.input_ids},
                             {"mask", in.text_mask},
                             {"state", in.state},
                             {"noise", in.noise}};
  const pi0::Model model(c, pi0::precision(c, at::kFloat), pi0::synthetic_weights(c, at::kFloat));
  const std::string text = "bic::pi0_openpi(pixels, cameras, ids, mask, state, noise, ";
  EXPECT_TRUE(
      at::equal(called(tensors, text + "\"tiny-openpi\")"), pi0::openpi(pi0::Pass(model), in)));
  EXPECT_THROW(called(tensors, text + "\"tiny\")"), UsageError);

  NamedTensors texts = tensors;
  texts["lengths"] = in.text_mask.sum(1);
  EXPECT_TRUE(at::equal(called(texts,
                               "bic::pi0_openpi.text(pixels, cameras, ids, lengths, state, noise, "
                               "\"tiny-openpi\")"),
                        pi0::openpi(pi0::Pass(model), in)));
}

/// Requests of a tiny preset as `.text` takes them, floats in `dtype`.
NamedTensors texts(const std::string& preset, at::ScalarType dtype) {
  const pi0::Config c = pi0::preset(preset);
  const bool cameras = c.variant == pi0::Variant::kOpenPi;
  at::manual_seed(7);
  constexpr std::int64_t kRequests = 128;  // in bf16 an order shows in one of many
  std::vector<std::int64_t> pixels{kRequests, 3, c.vision.image, c.vision.image};
  std::vector<std::int64_t> state{kRequests, c.state_dim};
  if (cameras) pixels.insert(pixels.begin() + 1, c.images);
  if (!cameras) state.insert(state.begin() + 1, 1);
  return {{"pixels", at::randn(pixels).to(dtype)},
          {"cameras", at::tensor({1, 0, 1}).to(at::kBool).expand({kRequests, 3})},
          {"text", at::randint(1, c.image_id, {kRequests, c.text_slots}, at::kLong)},
          {"lengths", at::full({kRequests}, c.text_slots - 2, at::kLong)},
          {"state", at::randn(state).to(dtype)},
          {"noise", at::randn({kRequests, c.action_tokens, c.action_dim}).to(dtype)}};
}

std::string text_call(const std::string& preset, const std::string& more) {
  const bool cameras = pi0::preset(preset).variant == pi0::Variant::kOpenPi;
  const std::string op =
      cameras ? "bic::pi0_openpi.text(pixels, cameras, " : "bic::pi0.text(pixels, ";
  return op + "text, lengths, state, noise, \"" + preset + "\", " + more + ")";
}

constexpr const char* kOrders[] = {"stored", "reversed", "halves", "lanes16"};

class EveryTinyPreset : public testing::TestWithParam<const char*> {};

TEST_P(EveryTinyPreset, IsTheSameModelInEveryOrderOfItsHiddenUnits) {
  const Pi0Operators operators;
  const NamedTensors in = texts(GetParam(), at::kDouble);
  const at::Tensor y = called(in, text_call(GetParam(), "weights=bf16"));
  for (const char* order : kOrders) {
    const auto more = fmt::format("weights=bf16, order=\"{}\"", order);
    EXPECT_LT(distance(y, called(in, text_call(GetParam(), more))), 1e-12) << order;
  }
}

TEST_P(EveryTinyPreset, RoundsOtherwiseInEveryOrderOfItsHiddenUnits) {
  const Pi0Operators operators;
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const NamedTensors in = texts(GetParam(), dtype);
    std::vector<at::Tensor> y;
    for (const char* order : kOrders) {
      y.push_back(called(in, text_call(GetParam(), fmt::format("order=\"{}\"", order))));
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_GT(distance(y[i], y[j]), 0) << c10::toString(dtype) << kOrders[i] << kOrders[j];
      }
    }
  }
}

TEST_P(EveryTinyPreset, ReadsNothingThatItsMasksHide) {
  const Pi0Operators operators;
  NamedTensors in = texts(GetParam(), at::kFloat);
  const at::Tensor wiped = called(in, text_call(GetParam(), "wipe=True"));
  EXPECT_TRUE(at::equal(wiped, called(in, text_call(GetParam(), "wipe=False"))));
  in["lengths"].add_(1);
  EXPECT_GT(distance(wiped, called(in, text_call(GetParam(), "wipe=False"))), 1e-4)
      << "the token was not read before";
}

INSTANTIATE_TEST_SUITE_P(Presets,
                         EveryTinyPreset,
                         testing::Values("tiny", "tiny-ragged", "tiny-openpi"),
                         [](const auto& preset) {
                           std::string name = preset.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Pi0Operators, WrongArgumentsAreRefusedInOneLine) {
  const Pi0Operators operators;
  const auto refusal = [](const NamedTensors& tensors, const std::string& text) -> std::string {
    try {
      called(tensors, text);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "accepted";
  };
  NamedTensors in = open_pi_zero_inputs("tiny", 2, at::kFloat);
  EXPECT_THAT(refusal(in, pi0_call("tinny")), HasSubstr("did you mean 'tiny'?"));
  EXPECT_THAT(refusal(in, pi0_call("tiny-openpi")), HasSubstr("call bic::pi0_openpi"));
  EXPECT_THAT(refusal(in, pi0_call("tiny-ragged")), HasSubstr("pixel_values is [2,3,28,28]"));
  EXPECT_THAT(refusal(in, pi0_call("tiny", ", weights=bf16")), HasSubstr("give inputs of that"));
  EXPECT_THAT(refusal(in, pi0_call("tiny", ", order=\"reversd\"")),
              HasSubstr("did you mean 'reversed'?"));
  EXPECT_THAT(refusal(open_pi_zero_inputs("tiny", 2, at::kHalf), pi0_call("tiny")),
              HasSubstr("it runs in fp32, bf16 or fp64"));
}

}  // namespace
}  // namespace bic::libtorch
