// Arithmetic is data: an evaluation of one form exceeds the bound of a tighter one, and keeps its
// own.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "reference_kernels/oracle/attention_cases.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/sample_draws.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using namespace testing_support;  // NOLINT: test
using Rng = std::mt19937_64;

/// Share of `trials` in which some output of `evaluate` is outside the bound of that form.
double share_of_problems(const Reference& reference,
                         DType dtype,
                         const Arithmetic& arithmetic,
                         int trials,
                         const std::function<Sample()>& draw,
                         const std::function<std::vector<double>(const Sample&)>& evaluate) {
  int outside = 0;
  for (int t = 0; t < trials; ++t) {
    const Sample sample = draw();
    const std::vector<double> y = evaluate(sample);
    const auto elements = all_elements(static_cast<std::int64_t>(y.size()));
    const auto oracle = wide_of(reference, sample, dtype, elements);
    const auto bound = bound_of(reference, sample, dtype, arithmetic, elements);
    bool any = false;
    for (std::size_t i = 0; i < y.size(); ++i) any = any || distance(y[i], oracle[i]) > bound[i];
    outside += any;
  }
  return static_cast<double>(outside) / trials;
}

TEST(DeclaredArithmetic, RoundingBeforeTheBiasNeedsItsForm) {
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    Rng rng(31);
    const auto draw = [&]() -> Sample {
      return {{draw_many(rng, Kind::kNormal, dtype, 64),
               draw_many(rng, Kind::kNormal, dtype, 512),
               draw_many(rng, Kind::kNormal, dtype, 8)},
              {{"k", 64}, {"n", 8}},
              {}};
    };
    const auto evaluate = [&](const Sample& s) {
      Sample no_bias = s;
      no_bias.values.pop_back();
      auto y = control_of(*linear_reference(), no_bias, dtype, Order::kLanes16, all_elements(8));
      for (int j = 0; j < 8; ++j) y[j] = round_to(dtype, y[j] + s.values[2][j]);
      return y;
    };
    const auto reference = linear_reference();
    EXPECT_GT(share_of_problems(*reference, dtype, {}, 500, draw, evaluate), 0.5);
    EXPECT_EQ(
        share_of_problems(*reference, dtype, {.form = "round-before-bias"}, 5000, draw, evaluate),
        0);
  }
}

/// Attention in double, but with weights of the dtype in the numerator.
std::vector<double> rounded_weights(const Sample& s, DType dtype) {
  const std::int64_t l = s.dims.at("l"), keys = s.dims.at("s"), e = s.dims.at("e");
  std::vector<double> y(4 * l * e);
  for (std::int64_t r = 0; r < 4 * l; ++r) {
    const std::int64_t first = r / l / 2 * keys;
    std::vector<double> z(keys);
    for (std::int64_t i = 0; i < keys * e; ++i) {
      z[i / e] += s.values[1][r * e + i % e] * s.values[2][first * e + i] / std::sqrt(e);
    }
    const double most = *std::max_element(z.begin(), z.end());
    double sum = 0;
    for (double& w : z) sum += w = std::exp(w - most);
    for (std::int64_t i = 0; i < keys * e; ++i) {
      y[r * e + i % e] += round_to(dtype, z[i / e]) * s.values[0][first * e + i] / sum;
    }
  }
  for (double& v : y) v = round_to(dtype, v);
  return y;
}

TEST(DeclaredArithmetic, RoundedWeightsNeedTheirForm) {
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    Rng rng(37);
    const auto draw = [&] { return draw_attention(rng, Kind::kNormal, dtype, ""); };
    const auto evaluate = [&](const Sample& s) { return rounded_weights(s, dtype); };
    const auto reference = attention_reference();
    EXPECT_GT(share_of_problems(*reference, dtype, {}, 500, draw, evaluate), 0.5);
    EXPECT_EQ(share_of_problems(*reference, dtype, {.form = "round-weights"}, 2000, draw, evaluate),
              0);
  }
}

float flush(float x) { return std::fabs(x) < 0x1p-126f ? 0 : x; }

TEST(DeclaredArithmetic, FlushingNeedsItsFlag) {
  // Products that are subnormal, and subnormal operands against factors that make much of them.
  for (const bool operands : {false, true}) {
    Rng rng(32);
    const auto draw = [&]() -> Sample {
      Sample s{{draw_many(rng, Kind::kTiny, DType::kBFloat16, 16),
                draw_many(rng, operands ? Kind::kNormal : Kind::kTiny, DType::kBFloat16, 16)},
               {{"k", 16}, {"n", 1}},
               {}};
      if (!operands) return s;
      for (double& x : s.values[0]) x = round_to(DType::kBFloat16, x * 0x1p-64);
      for (double& w : s.values[1]) w *= 0x1p20;
      return s;
    };
    const auto evaluate = [](const Sample& s) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) {
        sum = flush(std::fma(flush(s.values[0][k]), flush(s.values[1][k]), sum));
      }
      return std::vector<double>{round_to(DType::kBFloat16, sum)};
    };
    const auto reference = linear_reference();
    EXPECT_GT(share_of_problems(*reference, DType::kBFloat16, {}, 500, draw, evaluate), 0.5);
    EXPECT_EQ(share_of_problems(
                  *reference, DType::kBFloat16, {.flushes_subnormals = true}, 5000, draw, evaluate),
              0);
  }
}

TEST(DeclaredArithmetic, OnePlusErfNeedsItsForm) {
  for (const Attributes& attributes : {Attributes{}, Attributes{{"approximate", "tanh"}}}) {
    Rng rng(33);
    const bool tanh = !attributes.empty();
    const auto draw = [&]() -> Sample {
      return {{{static_cast<float>(-4 - 0x1p-20 * static_cast<double>(rng() % 100000))}},
              {{"h", 1}},
              attributes};
    };
    const auto evaluate = [&](const Sample& s) {
      const float x = static_cast<float>(s.values[0][0]);
      const float argument = tanh ? 0.79788456f * (x + 0.044715f * (x * x * x)) : x * 0.70710678f;
      return std::vector<double>{0.5f * x *
                                 (1 + (tanh ? std::tanh(argument) : std::erf(argument)))};
    };
    const auto reference = gelu_reference();
    EXPECT_GT(share_of_problems(*reference, DType::kFloat32, {}, 500, draw, evaluate), 0.9);
    EXPECT_EQ(
        share_of_problems(*reference, DType::kFloat32, {.form = "1+erf"}, 5000, draw, evaluate), 0);
  }
}

TEST(DeclaredArithmetic, AffineLayerNormNeedsItsForm) {
  Rng rng(34);
  const auto draw = [&]() -> Sample {
    return {{draw_many(rng, Kind::kOffset, DType::kFloat32, 1)}, {{"h", 1}}, {{"eps", "0x1p-17"}}};
  };
  const auto evaluate = [](const Sample& s) {
    const float x = static_cast<float>(s.values[0][0]);
    const float rstd = 1 / std::sqrt(0x1p-17f);
    const float shift = -x * rstd;
    return std::vector<double>{std::fma(x, rstd, shift)};
  };
  const auto reference = layer_norm_reference();
  EXPECT_GT(share_of_problems(*reference, DType::kFloat32, {}, 500, draw, evaluate), 0.5);
  EXPECT_EQ(share_of_problems(*reference, DType::kFloat32, {.form = "ax+b"}, 5000, draw, evaluate),
            0);
}

TEST(DeclaredArithmetic, RoundingTheRootOrTheSquareNeedsItsForm) {
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    Rng rng(37);
    const auto draw = [&]() -> Sample {
      return {{draw_many(rng, Kind::kNormal, dtype, 8)}, {{"h", 8}}, {{"exponent", "3"}}};
    };
    const auto check = [&](const Reference& r, const char* form, auto evaluate) {
      const auto all = [&](const Sample& s) {
        std::vector<double> y;
        for (const double x : s.values[0]) y.push_back(round_to(dtype, evaluate(std::fabs(x))));
        return y;
      };
      EXPECT_GT(share_of_problems(r, dtype, {}, 500, draw, all), 0.5) << form;
      EXPECT_EQ(share_of_problems(r, dtype, {.form = form}, 5000, draw, all), 0) << form;
    };
    check(*pointwise_reference(Pointwise::kRsqrt), "round-root", [&](double x) {
      return 1 / static_cast<float>(round_to(dtype, std::sqrt(static_cast<float>(x))));
    });
    check(*pow_reference(), "round-square", [&](double x) {
      return static_cast<float>(round_to(dtype, x * x)) * static_cast<float>(x);
    });
  }
}

/// log_softmax whose sum and logarithm are kept in 16 bits, and then logsumexp whose every step is.
std::vector<double> round_log(DType dtype, const Sample& s, bool logsumexp) {
  const auto round = [&](double v) { return round_to(dtype, static_cast<float>(v)); };
  const std::vector<double>& x = s.values[0];
  const double largest = *std::max_element(x.begin(), x.end());
  float sum = 0;
  for (double v : x) {
    const float d = static_cast<float>(v - largest);
    sum += static_cast<float>(logsumexp ? round(std::exp(round(d))) : std::exp(d));
  }
  const double log = round(std::log(round(sum)));
  if (logsumexp) return {round(log + largest)};
  std::vector<double> y;
  for (double v : x) y.push_back(round(v - largest - log));
  return y;
}

TEST(DeclaredArithmetic, RoundingTheLogarithmNeedsItsForm) {
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    for (const bool all : {false, true}) {
      Rng rng(37);
      const auto draw = [&] { return normal_row(rng, dtype, 100); };
      const auto evaluate = [&](const Sample& s) { return round_log(dtype, s, all); };
      const auto reference = all ? logsumexp_reference() : log_softmax_reference();
      const Arithmetic form{.form = all ? "round-all" : "round-log"};
      EXPECT_GT(share_of_problems(*reference, dtype, {}, 500, draw, evaluate), 0.1);
      EXPECT_EQ(share_of_problems(*reference, dtype, form, 5000, draw, evaluate), 0);
    }
  }
}

TEST(DeclaredArithmetic, RoundingEveryStepOfABatchNormNeedsItsForm) {
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    Rng rng(38);
    const auto draw = [&] {
      Sample s{{}, {{"c", 8}}, {{"eps", "0x1p-17"}}};
      for (int i = 0; i < 5; ++i) s.values.push_back(draw_many(rng, Kind::kNormal, dtype, 8));
      return s;
    };
    const auto evaluate = [&](const Sample& s) {
      const auto round = [&](double v) { return round_to(dtype, static_cast<float>(v)); };
      std::vector<double> y;
      for (int i = 0; i < 8; ++i) {
        const double rstd = round(1 / round(std::sqrt(round(std::fabs(s.values[2][i]) + 0x1p-17))));
        const double z = round(round(s.values[0][i] - s.values[1][i]) * rstd);
        y.push_back(round(round(z * s.values[3][i]) + s.values[4][i]));
      }
      return y;
    };
    const auto reference = batch_norm_reference();
    EXPECT_GT(share_of_problems(*reference, dtype, {.form = "folded"}, 500, draw, evaluate), 0.5);
    EXPECT_EQ(share_of_problems(*reference, dtype, {.form = "round-all"}, 5000, draw, evaluate), 0);
  }
}

TEST(DeclaredArithmetic, OtherFormulaIsRefused) {
  Rng rng(35);
  const auto draw = [&] { return normal_row(rng, DType::kFloat32, 16, {{"eps", "0x1p-17"}}); };
  const auto tanh_for_erf = [](const Sample& s) {
    Sample other = s;
    other.attributes["approximate"] = "tanh";
    return control_of(
        *gelu_reference(), other, DType::kFloat32, Order::kSequential, all_elements(16));
  };
  EXPECT_EQ(share_of_problems(
                *gelu_reference(), DType::kFloat32, {.form = "1+erf"}, 200, draw, tanh_for_erf),
            1);
  const auto unbiased_variance = [](const Sample& s) {
    auto y = control_of(
        *layer_norm_reference(), s, DType::kFloat32, Order::kSequential, all_elements(16));
    for (double& v : y) v *= std::sqrt(15.0 / 16);
    return y;
  };
  EXPECT_EQ(
      share_of_problems(*layer_norm_reference(), DType::kFloat32, {}, 200, draw, unbiased_variance),
      1);
}

TEST(DeclaredArithmetic, UnknownFormIsAnError) {
  Rng rng(36);
  const Sample s = normal_row(rng, DType::kFloat32, 4);
  EXPECT_THROW(bound_of(*gelu_reference(), s, DType::kFloat32, {.form = "ax+b"}, all_elements(4)),
               HarnessError);
}

}  // namespace
}  // namespace bic
