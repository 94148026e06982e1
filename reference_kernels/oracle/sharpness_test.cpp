// Bounds are sharp: what is computed from inputs of fewer bits, or from fewer terms, exceeds them.
#include "reference_kernels/oracle/sharpness.h"

#include <gtest/gtest.h>

#include "reference_kernels/oracle/references.h"

namespace bic {
namespace {

using namespace testing_support;  // NOLINT: test
using Rng = std::mt19937_64;

/// Large K only proves soundness: gamma grows like K, errors like its root.
constexpr std::int64_t kLengths[] = {1, 2, 3, 5, 8, 16, 17, 32};

/// Inputs under a law of the suite: x[1,k], w[n,k].
Sample filled(Law law, DType dtype, std::uint64_t seed, std::int64_t k, std::int64_t n) {
  const FillProblem problem{
      dtype, law, Seed{seed}, {{"x", {1, k}, {1}, false}, {"w", {n, k}, {1}, true}}};
  Sample s{{std::vector<double>(k), std::vector<double>(n * k)}, {{"k", k}, {"n", n}}, {}};
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<std::byte> bytes(s.values[i].size() * size_of(dtype));
    fill(problem, i, SampleId{3}, bytes);
    widen(dtype, bytes, s.values[i]);
  }
  return s;
}

class Sharpness : public testing::TestWithParam<std::int64_t> {};

TEST_P(Sharpness, SingleBoundRefusesInputsOfFewerBits) {
  const std::int64_t k = GetParam(), n = 8;
  Rng rng(21);
  double tf32 = 0, bf16 = 0;
  for (int i = 0; i < kProblems; ++i) {
    const Sample right{{draw_many(rng, Kind::kNormal, DType::kFloat32, k),
                        draw_many(rng, Kind::kNormal, DType::kFloat32, n * k)},
                       {{"k", k}, {"n", n}},
                       {}};
    Sample wrong = right;
    for (auto& v : wrong.values) v = shortened(v, 11);
    tf32 += share_outside(*linear_reference(), DType::kFloat32, right, wrong, n) / kProblems;
    for (auto& v : wrong.values) v = shortened(v, 8);
    bf16 += share_outside(*linear_reference(), DType::kFloat32, right, wrong, n) / kProblems;
  }
  EXPECT_GT(tf32, 0.85);
  EXPECT_GT(bf16, 0.95);
}

TEST_P(Sharpness, DoubleBoundRefusesSingleSums) {
  const std::int64_t k = GetParam(), n = 8;
  Rng rng(22);
  int outside = 0;
  for (int i = 0; i < kProblems; ++i) {
    const Sample s{{draw_many(rng, Kind::kNormal, DType::kFloat64, k),
                    draw_many(rng, Kind::kNormal, DType::kFloat64, n * k)},
                   {{"k", k}, {"n", n}},
                   {}};
    const auto elements = all_elements(n);
    const auto oracle = wide_of(*linear_reference(), s, DType::kFloat64, elements);
    const auto bound = bound_of(
        *linear_reference(), s, DType::kFloat64, reference_arithmetic(DType::kFloat64), elements);
    const auto y = control_of(*linear_reference(), s, DType::kFloat32, Order::kHalves, elements);
    for (std::int64_t j = 0; j < n; ++j) outside += distance(y[j], oracle[j]) > bound[j];
  }
  EXPECT_GT(outside, kProblems * n * 99 / 100);
}

TEST_P(Sharpness, ExactLawsShowADroppedLastTerm) {
  const std::int64_t k = GetParam(), n = 8;
  for (DType dtype : kAllDTypes) {
    for (Law law : {Law::kOnes, Law::kRamp, Law::kIntegers}) {
      double outside = 0;
      for (int i = 0; i < 20; ++i) {
        const Sample right = filled(law, dtype, 100 + i, k, n);
        Sample wrong = right;
        wrong.values[0].back() = 0;
        outside += share_outside(*linear_reference(), dtype, right, wrong, n) / 20;
      }
      // Integers may be 0 themselves.
      EXPECT_GT(outside, law == Law::kIntegers ? 0.5 : 0.99) << name(dtype) << ' ' << name(law);
    }
  }
}

TEST_P(Sharpness, SumShowsADroppedLastTerm) {
  const std::int64_t k = GetParam();
  for (DType dtype : kAllDTypes) {
    for (Law law : {Law::kOnes, Law::kRamp, Law::kIntegers}) {
      double outside = 0;
      for (int i = 0; i < 40; ++i) {
        Sample right = filled(law, dtype, 200 + i, k, 1);
        right.dims = {{"h", k}};
        right.values.resize(1);
        Sample wrong = right;
        wrong.values[0].back() = 0;
        outside += share_outside(*sum_reference(), dtype, right, wrong, 1) / 40;
      }
      EXPECT_GT(outside, law == Law::kIntegers ? 0.5 : 0.95) << name(dtype) << ' ' << name(law);
    }
  }
}

/// One or two elements: softmax and layer norm hardly depend on them.
class RowSharpness : public Sharpness {};

TEST_P(RowSharpness, RowOpsRefuseInputsOfFewerBits) {
  const std::int64_t h = GetParam();
  Rng rng(23);
  double softmax = 0, norm = 0;
  for (int i = 0; i < kProblems; ++i) {
    const Sample right = normal_row(rng, DType::kFloat32, h, {{"eps", "0x1p-17"}});
    Sample wrong = right;
    wrong.values[0] = shortened(wrong.values[0], 11);
    softmax += share_outside(*softmax_reference(), DType::kFloat32, right, wrong, h) / kProblems;
    norm += share_outside(*layer_norm_reference(), DType::kFloat32, right, wrong, h) / kProblems;
  }
  EXPECT_GT(softmax, 0.85);
  EXPECT_GT(norm, 0.85);
}

TEST_P(RowSharpness, RowOpsShowADroppedLastElement) {
  const std::int64_t h = GetParam();
  Rng rng(24);
  for (DType dtype : kAllDTypes) {
    double softmax = 0, norm = 0;
    for (int i = 0; i < kProblems; ++i) {
      const Sample right = normal_row(rng, dtype, h, {{"eps", "0x1p-17"}});
      Sample wrong = right;
      wrong.values[0].pop_back();
      wrong.dims["h"] = h - 1;
      softmax += share_outside(*softmax_reference(), dtype, right, wrong, h - 1) / kProblems;
      norm += share_outside(*layer_norm_reference(), dtype, right, wrong, h - 1) / kProblems;
    }
    EXPECT_GT(softmax, 0.8) << name(dtype);
    EXPECT_GT(norm, 0.8) << name(dtype);
  }
}

struct Reduction {
  const char* name;
  std::shared_ptr<const Reference> reference;
  Attributes attributes;
  bool scans = false;  ///< as many outputs as inputs
};

std::vector<Reduction> reductions() {
  return {{"mean", mean_reference(), {}},
          {"var", variance_reference(), {{"correction", "1"}, {"output", "var"}}},
          {"std", variance_reference(), {{"correction", "0"}, {"output", "std"}}},
          {"norm_2", vector_norm_reference(), {{"ord", "2"}}},
          {"norm_1", vector_norm_reference(), {{"ord", "1"}}},
          {"cumsum", cumsum_reference(), {}, true},
          {"logsumexp", logsumexp_reference(), {}},
          {"log_softmax", log_softmax_reference(), {}, true},
          {"rms_norm", rms_norm_reference(), {{"eps", "0x1p-17"}}, true}};
}

TEST_P(RowSharpness, ReductionsRefuseInputsOfFewerBits) {
  const std::int64_t h = GetParam();
  for (const Reduction& r : reductions()) {
    Rng rng(25);
    double outside = 0;
    for (int i = 0; i < kProblems; ++i) {
      const Sample right = normal_row(rng, DType::kFloat32, h, r.attributes);
      Sample wrong = right;
      wrong.values[0] = shortened(wrong.values[0], 11);
      const std::int64_t outputs = r.scans ? h : 1;
      outside += share_outside(*r.reference, DType::kFloat32, right, wrong, outputs) / kProblems;
    }
    EXPECT_GT(outside, 0.85) << r.name;
  }
}

TEST_P(RowSharpness, ReductionsShowADroppedLastElement) {
  const std::int64_t h = GetParam();
  for (const Reduction& r : reductions()) {
    if (r.scans) continue;
    for (DType dtype : kAllDTypes) {
      Rng rng(26);
      double outside = 0;
      for (int i = 0; i < kProblems; ++i) {
        const Sample right = normal_row(rng, dtype, h, r.attributes);
        Sample wrong = right;
        wrong.values[0].pop_back();
        wrong.dims["h"] = h - 1;
        outside += share_outside(*r.reference, dtype, right, wrong, 1) / kProblems;
      }
      // The root of 32 squares in bf16 hardly shows one of them.
      EXPECT_GT(outside, 0.6) << r.name << ' ' << name(dtype);
    }
  }
}

TEST(ChannelSharpness, NormsRefuseInputsOfFewerBits) {
  Rng rng(27);
  const auto normals = [&](std::int64_t n) {
    return draw_many(rng, Kind::kNormal, DType::kFloat32, n);
  };
  double group = 0, batch = 0;
  for (int i = 0; i < kProblems; ++i) {
    Sample right{{normals(48)}, {{"c", 2}, {"l", 8}}, {{"eps", "0x1p-17"}}};
    Sample wrong = right;
    wrong.values[0] = shortened(wrong.values[0], 11);
    group += share_outside(*group_norm_reference(), DType::kFloat32, right, wrong, 48) / kProblems;
    for (int parameter = 0; parameter < 4; ++parameter) right.values.push_back(normals(6));
    wrong.values.insert(wrong.values.end(), right.values.begin() + 1, right.values.end());
    batch += share_outside(*batch_norm_reference(), DType::kFloat32, right, wrong, 48) / kProblems;
  }
  EXPECT_GT(group, 0.85);
  EXPECT_GT(batch, 0.85);
}

/// Heads, queries and columns of attention's samples; keys are of the parameter's length.
constexpr std::int64_t kHeads = 2, kQueries = 2, kColumns = 4;

Sample attention_sample(Rng& rng, DType dtype, std::int64_t keys) {
  const auto normal = [&](std::int64_t n) { return draw_many(rng, Kind::kNormal, dtype, n); };
  return {{normal(kHeads * keys * kColumns),
           normal(kHeads * kQueries * kColumns),
           normal(kHeads * keys * kColumns)},
          {{"s", keys}, {"l", kQueries}, {"e", kColumns}},
          {}};
}

TEST_P(RowSharpness, AttentionRefusesInputsOfFewerBits) {
  constexpr std::int64_t kOutputs = kHeads * kQueries * kColumns;
  Rng rng(25);
  for (std::size_t input = 0; input < 3; ++input) {
    double outside = 0;
    for (int i = 0; i < kProblems; ++i) {
      const Sample right = attention_sample(rng, DType::kFloat32, GetParam());
      Sample wrong = right;
      wrong.values[input] = shortened(wrong.values[input], 11);
      outside += share_outside(*attention_reference(), DType::kFloat32, right, wrong, kOutputs);
    }
    EXPECT_GT(outside / kProblems, 0.85) << "input " << input;
  }
}

TEST_P(RowSharpness, AttentionShowsAKeyTooMany) {
  constexpr std::int64_t kOutputs = kHeads * kQueries * kColumns;
  Rng rng(26);
  for (DType dtype : kAllDTypes) {
    double outside = 0;
    for (int i = 0; i < kProblems; ++i) {
      Sample right = attention_sample(rng, dtype, GetParam());
      const Sample wrong = right;
      right.attributes = {{"mask", "bool"}};
      right.values.emplace_back(kQueries * GetParam(), 1.0).back() = 0;
      right.values.back()[GetParam() - 1] = 0;
      outside += share_outside(*attention_reference(), dtype, right, wrong, kOutputs);
    }
    EXPECT_GT(outside / kProblems, 0.8) << name(dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths,
                         Sharpness,
                         testing::ValuesIn(kLengths),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Lengths,
                         RowSharpness,
                         testing::Values(3, 5, 8, 16, 17, 32),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace bic
