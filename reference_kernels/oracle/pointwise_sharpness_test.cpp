#include <gtest/gtest.h>

#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/sharpness.h"

namespace bic {
namespace {

using namespace testing_support;  // NOLINT: test

TEST(PointwiseSharpness, FunctionsRefuseInputsOfFewerBits) {
  constexpr std::int64_t kLength = 16;
  for (Pointwise f : {Pointwise::kSilu,
                      Pointwise::kSigmoid,
                      Pointwise::kTanh,
                      Pointwise::kExp,
                      Pointwise::kLog,
                      Pointwise::kRsqrt,
                      Pointwise::kSin,
                      Pointwise::kCos}) {
    std::mt19937_64 rng(28);
    double outside = 0;
    for (int i = 0; i < kProblems; ++i) {
      const Sample right = normal_row(rng, DType::kFloat32, kLength);
      Sample wrong = right;
      wrong.values[0] = shortened(wrong.values[0], 11);
      outside += share_outside(*pointwise_reference(f), DType::kFloat32, right, wrong, kLength) /
                 kProblems;
    }
    EXPECT_GT(outside, 0.85) << static_cast<int>(f);
  }
}

}  // namespace
}  // namespace bic
