// Bounds are sharp: what leaves out an operand, a factor or a term, or takes another constant,
// exceeds them.
#include <gtest/gtest.h>

#include <algorithm>

#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/sharpness.h"

namespace bic {
namespace {

using namespace testing_support;  // NOLINT: test

constexpr int kDraws = 60;

/// A mistake, as the sample that an implementation with it computes.
struct Mistake {
  std::string name;
  std::vector<std::string> oracle_cases;  ///< that it is made in, of oracle_cases()
  void (*spoil)(Sample&);
  std::vector<DType> dtypes;
  double least = 0.9;  ///< share of problems in which some output must be outside
};

const std::vector<DType> kAll{kAllDTypes.begin(), kAllDTypes.end()};
/// Where the mistake is smaller than the rounding of a 16-bit output.
const std::vector<DType> kWide{DType::kFloat32, DType::kFloat64};

/// The last of `length` elements of every row of the first operand becomes 0.
void drop_term(Sample& s) {
  const auto k = static_cast<std::size_t>(s.dims.at("k"));
  for (std::size_t i = k - 1; i < s.values[0].size(); i += k) s.values[0][i] = 0;
}

template <int kOperand, int kValue>
void fill_operand(Sample& s) {
  std::ranges::fill(s.values[kOperand], kValue);
}

template <int kOperand, int kValue>
void end_operand(Sample& s) {
  s.values[kOperand].back() = kValue;
}

void drop_largest(Sample& s) { *std::ranges::max_element(s.values[0]) = -100; }

void negate_sine(Sample& s) {
  for (double& v : s.values[2]) v = -v;
}

std::vector<Mistake> product_mistakes() {
  return {
      {"drops_a_term", {"mm", "bmm", "linear", "product_scaled"}, drop_term, kAll},
      {"drops_a_tap",
       {"convolution_plain", "convolution_strided", "convolution_grouped"},
       end_operand<1, 0>,
       kAll},
      {"ignores_the_bias",
       {"linear_bias", "convolution_padded", "product_scaled_row"},
       fill_operand<2, 0>,
       kAll},
      {"ignores_alpha",
       {"product_scaled", "product_shared", "add_alpha"},
       [](Sample& s) { s.attributes["alpha"] = "0x1p+0"; },
       kAll},
      {"ignores_beta",
       {"product_scaled", "product_shared"},
       [](Sample& s) { s.attributes["beta"] = "0x1p+0"; },
       kAll},
  };
}

std::vector<Mistake> row_mistakes() {
  return {
      {"drops_an_element",
       {"sum", "mean", "var", "norm_1", "norm_2", "cumsum", "rms_norm_plain", "layer_norm_plain"},
       end_operand<0, 0>,
       kAll,
       0.6},  // one of 60 squares hardly shows in a root in bf16
      {"drops_an_element", {"softmax", "log_softmax"}, end_operand<0, -100>, kAll, 0.8},
      // One output, of which the smallest of 60 terms is less than a rounding to bf16.
      {"drops_an_element", {"logsumexp"}, end_operand<0, -100>, kAll, 0.6},
      // Many products of 60 factors are outside fp16's range.
      {"drops_a_factor", {"product"}, end_operand<0, 1>, kAll, 0.5},
      {"drops_the_largest", {"largest"}, drop_largest, kAll},
      {"takes_n_for_n_less_1",
       {"var", "std"},
       [](Sample& s) { s.attributes["correction"] = "0"; },
       kAll},
      {"takes_another_eps",
       {"layer_norm", "rms_norm", "group_norm", "batch_norm"},
       [](Sample& s) { s.attributes["eps"] = "0x1.01p-2"; },
       kWide},
      {"ignores_the_weight", {"layer_norm", "rms_norm", "group_norm"}, fill_operand<1, 1>, kAll},
      {"ignores_the_mean", {"batch_norm"}, fill_operand<1, 0>, kAll},
      {"ignores_the_variance", {"batch_norm"}, fill_operand<2, 1>, kAll},
      {"ignores_the_shift", {"layer_norm", "group_norm"}, fill_operand<2, 0>, kAll},
  };
}

std::vector<Mistake> other_mistakes() {
  return {
      {"takes_tanh_for_erf",
       {"gelu"},
       [](Sample& s) { s.attributes["approximate"] = "tanh"; },
       kWide},
      {"takes_another_exponent",
       {"pow"},
       [](Sample& s) { s.attributes["exponent"] = "0x1.42p+1"; },
       kAll},
      {"ignores_the_exponent", {"pow_tensor"}, fill_operand<1, 1>, kAll},
      {"ignores_the_operand", {"add", "mul_row", "div_column"}, fill_operand<1, 1>, kAll},
      {"drops_the_sine", {"rotary"}, fill_operand<2, 0>, kAll},
      {"turns_the_other_way", {"rotary"}, negate_sine, kAll},
      {"takes_another_scale",
       {"attention", "attention_causal"},
       [](Sample& s) { s.attributes["scale"] = "0x1.8p-2"; },
       kAll},
      {"ignores_the_mask",
       {"attention_causal"},
       [](Sample& s) { s.attributes.erase("mask"); },
       kAll},
      {"ignores_the_mask", {"attention_added"}, fill_operand<3, 0>, kAll},
      {"ignores_the_mask", {"attention_bool"}, fill_operand<3, 1>, kAll, 0.8},
      {"takes_the_first_for_the_second",
       {"cat"},
       [](Sample& s) { std::copy_n(s.values[0].begin(), 4, s.values[1].begin()); },
       kAll},
  };
}

struct Made {
  Mistake mistake;
  OracleCase in;
  DType dtype;
};

void PrintTo(const Made& m, std::ostream* out) { *out << m.mistake.name << ' ' << m.in.name; }

std::vector<Made> all_mistakes() {
  std::vector<Made> all;
  const std::vector<OracleCase> cases = oracle_cases();
  for (const auto& family : {product_mistakes(), row_mistakes(), other_mistakes()}) {
    for (const Mistake& m : family) {
      for (const std::string& name : m.oracle_cases) {
        const OracleCase& in = *std::ranges::find(cases, name, &OracleCase::name);
        for (DType dtype : m.dtypes) all.push_back({m, in, dtype});
      }
    }
  }
  return all;
}

class FaultSharpness : public testing::TestWithParam<Made> {};

TEST_P(FaultSharpness, BoundRefusesTheMistake) {
  const auto& [mistake, in, dtype] = GetParam();
  Rng rng(30);
  int outside = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Sample right = in.draw(rng, dtype);
    Sample wrong = right;
    mistake.spoil(wrong);
    const auto outputs = static_cast<std::int64_t>(in.naive(right).size());
    outside += share_outside(*in.reference, dtype, right, wrong, outputs) > 0;
  }
  EXPECT_GE(outside, mistake.least * kDraws);
}

INSTANTIATE_TEST_SUITE_P(Ops,
                         FaultSharpness,
                         testing::ValuesIn(all_mistakes()),
                         [](const auto& info) {
                           return info.param.in.name + "_" + info.param.mistake.name + "_" +
                                  std::string(name(info.param.dtype));
                         });

}  // namespace
}  // namespace bic
