#include "adapters/libtorch/stock_arithmetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "adapters/libtorch/accuracy_problem.h"
#include "adapters/libtorch_invariant/registration.h"

namespace bic::libtorch {
namespace {

using protocol::ManifestEntry;

/// Problems of each op, variant and dtype; with BIC_PROBLEMS=110 the seven ops see over 10,000.
int problems_per_cell() {
  const char* given = std::getenv("BIC_PROBLEMS");
  return given == nullptr ? 12 : std::max(1, std::atoi(given));
}

/// Row-major inputs and, for every third problem, the layouts that pick other kernels.
Storage storage_of(int problem) {
  return problem % 3 == 0   ? Storage::kOuterSwapped
         : problem % 3 == 1 ? Storage::kRowMajor
                            : Storage::kTransposed;
}

/// The largest error over all problems of an op and dtype as a share of the bound of `arithmetic`.
Worst worst_of(LibTorchBackend& backend,
               const OpSpec& op,
               DType dtype,
               const Arithmetic& arithmetic,
               int problems = problems_per_cell()) {
  Worst worst;
  for (const Variant& variant : op.variants) {
    for (int i = 0; i < problems; ++i) {
      const AccuracyProblem problem(op, variant, dtype, i);
      worst = std::max(worst, problem.judge(backend, storage_of(i), arithmetic));
    }
  }
  return worst;
}

const Arithmetic& arithmetic_of(const std::vector<ManifestEntry>& manifest,
                                const std::string& op,
                                DType dtype) {
  const auto at = std::find_if(
      manifest.begin(), manifest.end(), [&](const ManifestEntry& e) { return e.op == op; });
  return at->arithmetic.at(dtype);
}

using Param = std::tuple<const char*, DType>;

class Declared : public testing::TestWithParam<Param> {
 protected:
  const OpSpec& op() const { return *find_op(std::get<0>(GetParam())); }
  DType dtype() const { return std::get<1>(GetParam()); }
};

TEST_P(Declared, StockArithmeticHolds) {
  LibTorchBackend backend({"libtorch", {}, nullptr, nullptr}, nullptr);
  const Worst worst =
      worst_of(backend, op(), dtype(), arithmetic_of(stock_manifest(), op().name, dtype()));
  RecordProperty("worst_percent_of_bound", static_cast<int>(100 * worst.share));
  EXPECT_LE(worst.share, 1) << worst.where;
  EXPECT_GT(worst.share, 0) << "nothing was judged";
}

TEST_P(Declared, InvariantArithmeticHolds) {
  const libtorch_invariant::Registration registration;
  LibTorchBackend backend({"libtorch-invariant", {}, nullptr, nullptr}, nullptr);
  const auto manifest = completed(libtorch_invariant::manifest(registration.changed()));
  const Worst worst = worst_of(backend, op(), dtype(), arithmetic_of(manifest, op().name, dtype()));
  RecordProperty("worst_percent_of_bound", static_cast<int>(100 * worst.share));
  EXPECT_LE(worst.share, 1) << worst.where;
  EXPECT_GT(worst.share, 0) << "nothing was judged";
}

/// Every op with a bound that is not 0, in each of its dtypes.
std::vector<Param> cells() {
  std::vector<Param> all;
  for (const OpSpec& op : registry()) {
    if (op.control == ControlKind::kNone) continue;
    for (DType dtype : op.dtypes) all.emplace_back(op.name.c_str(), dtype);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Ops, Declared, testing::ValuesIn(cells()), [](const auto& info) {
  return std::string(std::get<0>(info.param)) + "_" + std::string(name(std::get<1>(info.param)));
});

/// An entry that is too tight for stock: with it the bound must be exceeded.
struct Tighter {
  const char* name;
  const char* op;
  DType dtype;
  Arithmetic arithmetic;
};

class TooTight : public testing::TestWithParam<Tighter> {};

TEST_P(TooTight, ArithmeticFails) {
  LibTorchBackend backend({"libtorch", {}, nullptr, nullptr}, nullptr);
  const Tighter& t = GetParam();
  // The rarest of them shows in about one problem of 50.
  EXPECT_GT(worst_of(backend, *find_op(t.op), t.dtype, t.arithmetic, 100).share, 1);
}

const Arithmetic kTextbook{};
const Arithmetic kDoubleSums{.accumulator = DType::kFloat64};
const Arithmetic kFastExp{.elementary_ulps = 944};
const Arithmetic kGoodExp{.elementary_ulps = 2, .form = "round-weights"};
const Arithmetic kGoodErf{.elementary_ulps = 2, .form = "1+erf"};

INSTANTIATE_TEST_SUITE_P(
    Entries,
    TooTight,
    testing::Values(
        Tighter{"linear_bf16_one_rounding", "linear", DType::kBFloat16, kTextbook},
        Tighter{"linear_fp16_one_rounding", "linear", DType::kFloat16, kTextbook},
        Tighter{"layer_norm_fp32_centred", "layer_norm", DType::kFloat32, kTextbook},
        Tighter{"gelu_fp32_erfc", "gelu", DType::kFloat32, kTextbook},
        Tighter{"gelu_fp32_erf_of_2_ulp", "gelu", DType::kFloat32, kGoodErf},
        Tighter{"softmax_bf16_one_rounding", "softmax", DType::kBFloat16, kTextbook},
        Tighter{"softmax_fp16_one_rounding", "softmax", DType::kFloat16, kTextbook},
        Tighter{"gelu_fp64_erfc", "gelu", DType::kFloat64, kDoubleSums},
        Tighter{"mm_fp32_double_sums", "mm", DType::kFloat32, kDoubleSums},
        Tighter{"bmm_fp32_double_sums", "bmm", DType::kFloat32, kDoubleSums},
        Tighter{"sum_fp32_double_sums", "sum", DType::kFloat32, kDoubleSums},
        Tighter{"log_softmax_bf16_one_rounding", "log_softmax", DType::kBFloat16, kTextbook},
        Tighter{"log_softmax_fp16_one_rounding", "log_softmax", DType::kFloat16, kTextbook},
        Tighter{"logsumexp_bf16_one_rounding", "logsumexp", DType::kBFloat16, kTextbook},
        Tighter{"logsumexp_fp16_one_rounding", "logsumexp", DType::kFloat16, kTextbook},
        Tighter{"logsumexp_fp32_double", "logsumexp", DType::kFloat32, kDoubleSums},
        Tighter{"rms_norm_fp32_double", "rms_norm", DType::kFloat32, kDoubleSums},
        Tighter{"group_norm_fp32_centred", "group_norm", DType::kFloat32, kTextbook},
        Tighter{"batch_norm_fp32_centred", "batch_norm", DType::kFloat32, kTextbook},
        Tighter{"attention_bf16_wide_weights",
                "scaled_dot_product_attention",
                DType::kBFloat16,
                kFastExp},
        Tighter{
            "attention_fp16_good_exp", "scaled_dot_product_attention", DType::kFloat16, kGoodExp},
        Tighter{
            "attention_fp32_double", "scaled_dot_product_attention", DType::kFloat32, kDoubleSums},
        Tighter{"mean_fp32_double_sums", "mean", DType::kFloat32, kDoubleSums},
        Tighter{"std_fp64_two_passes", "std", DType::kFloat64, kDoubleSums},
        Tighter{"var_mean_fp64_two_passes", "var_mean", DType::kFloat64, kDoubleSums},
        Tighter{"prod_bf16_fp32_products", "prod", DType::kBFloat16, kTextbook},
        Tighter{"prod_fp16_fp32_products", "prod", DType::kFloat16, kTextbook},
        Tighter{"rsqrt_bf16_one_rounding", "rsqrt", DType::kBFloat16, kTextbook},
        Tighter{"rsqrt_fp16_one_rounding", "rsqrt", DType::kFloat16, kTextbook},
        Tighter{"pow_bf16_one_rounding", "pow", DType::kBFloat16, kTextbook},
        Tighter{"add_bf16_one_rounding", "add", DType::kBFloat16, kTextbook},
        Tighter{"add_fp16_one_rounding", "add", DType::kFloat16, kTextbook},
        Tighter{"rotary_bf16_one_rounding", "rotary", DType::kBFloat16, kTextbook},
        Tighter{"rotary_fp16_one_rounding", "rotary", DType::kFloat16, kTextbook},
        Tighter{"softmax_fp32_double", "softmax", DType::kFloat32, kDoubleSums}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace bic::libtorch
