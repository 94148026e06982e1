// Bounds are sharp: an evaluation of inputs that were rounded to fewer bits first exceeds them.
#include <gtest/gtest.h>

#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/sharpness.h"

namespace bic {
namespace {

using namespace testing_support;  // NOLINT: test

constexpr int kDraws = 60;

/// The least share of problems in which some output is outside, for inputs of that many bits.
struct Loss {
  const char* name;
  DType dtype;
  int bits;
  double least;
};

/// TF32 and bf16 for fp32, single precision for fp64.
constexpr Loss kLosses[] = {{"tf32", DType::kFloat32, 11, 0.9},
                            {"bf16", DType::kFloat32, 8, 0.95},
                            {"fp32", DType::kFloat64, 24, 0.95}};

class InputSharpness : public testing::TestWithParam<std::tuple<OracleCase, Loss>> {};

TEST_P(InputSharpness, BoundRefusesInputsOfFewerBits) {
  const auto& [c, loss] = GetParam();
  Rng rng(29);
  int outside = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Sample right = c.draw(rng, loss.dtype);
    Sample wrong = right;
    for (auto& operand : wrong.values) operand = shortened(operand, loss.bits);
    const auto outputs = static_cast<std::int64_t>(c.naive(right).size());
    outside += share_outside(*c.reference, loss.dtype, right, wrong, outputs) > 0;
  }
  EXPECT_GE(outside, loss.least * kDraws);
}

INSTANTIATE_TEST_SUITE_P(Ops,
                         InputSharpness,
                         testing::Combine(testing::ValuesIn(oracle_cases()),
                                          testing::ValuesIn(kLosses)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace bic
