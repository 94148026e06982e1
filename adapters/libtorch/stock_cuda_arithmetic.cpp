#include "adapters/libtorch/stock_cuda_arithmetic.h"

#include <map>
#include <string>
#include <utility>

#include "adapters/libtorch/device.h"
#include "adapters/libtorch/stock_arithmetic.h"
#include "suites/ops/op_spec.h"

// Measured on an H200 with cuBLAS 13.1 and cuDNN 9.19; entries that say no more are as the textbook
// has them, and held. "CUDA guide" is the table of errors of CUDA's mathematical functions in its
// programming guide. TF32 is off for matrix products and on for convolutions by default, in torch
// as in every report's fingerprint: a convolution in fp32 is judged as what it is called, and fails
// its bound. So does a product in bf16 or fp16 whose split parts are rounded to 16 bits before they
// are added, which torch allows by default; group_norm in 16 bits, as if mean and 1 / std were kept
// in 16 bits; and batch_norm near the largest number. No form says any of these.

namespace bic::libtorch {
namespace {

/// An op's arithmetic where it differs from sums in fp32, fp64 for fp64, and one rounding.
struct Difference {
  int elementary_ulps = 2;
  std::string form;         ///< of all dtypes
  std::string form_16_bit;  ///< of bf16 and fp16 in the place of `form`
  std::string source;
};

constexpr const char* kTensorCores =
    "tensor cores: products exact, sums in fp32, aligned and truncated";

Difference product() { return {2, "", "tensor-core", kTensorCores}; }

Difference convolution() {
  return {2, "", "round-before-bias", "measured on an H200: one rounding is exceeded, two hold"};
}

const std::map<std::string, Difference>& differences() {
  static const std::map<std::string, Difference> all{
      {"mm", product()},
      {"bmm", product()},
      {"addmm", product()},
      {"baddbmm", product()},
      {"matmul", product()},
      {"mv", product()},
      {"dot", product()},
      {"conv2d", convolution()},
      {"conv1d", convolution()},
      {"linear",
       {2,
        "",
        "round-before-bias",
        "a rank-3 input that does not flatten to a view reaches bmm, which rounds, then an "
        "addition, which rounds again (RecordFunction)"}},
      {"var", {2, "welford", "", "header SharedReduceOps.h: WelfordOps, in fp32 on CUDA"}},
      {"std", {2, "welford", "", "header SharedReduceOps.h: WelfordOps, in fp32 on CUDA"}},
      {"var_mean", {2, "welford", "", "header SharedReduceOps.h: WelfordOps, in fp32 on CUDA"}},
      {"logsumexp",
       {2, "", "round-all", "every step is an op of its own, which rounds (RecordFunction)"}},
      {"layer_norm", {2, "ax+b", "ax+b", "moments by Welford's updates"}},
      {"group_norm", {2, "folded", "folded", "moments by Welford's updates, x * s + b"}},
      {"batch_norm", {2, "folded", "folded", "x * s + b or the textbook form"}},
      {"gelu", {2, "1+erf", "1+erf", "header Gelu.h; CUDA guide: erff within 2 ulp"}},
      {"pow",
       {4,
        "",
        "round-square",
        "CUDA guide: powf within 4 ulp; on an H200 x^3 in 16 bits exceeds one rounding"}},
      {"rotary", {2, "", "round-products", "four ops: each rounds, also to 16 bits"}},
      {"scaled_dot_product_attention",
       {4, "", "round-weights", "the weights of the numerator are rounded, those of the sum not"}}};
  return all;
}

void differ(protocol::ManifestEntry& e, const Difference& d) {
  for (auto& [dtype, arithmetic] : e.arithmetic) {
    const bool narrow = dtype == DType::kBFloat16 || dtype == DType::kFloat16;
    arithmetic.elementary_ulps = d.elementary_ulps;
    arithmetic.form = narrow && !d.form_16_bit.empty() ? d.form_16_bit : d.form;
    arithmetic.source = d.source;
  }
}

}  // namespace

std::vector<protocol::ManifestEntry> stock_cuda_manifest() {
  std::vector<protocol::ManifestEntry> listed;
  for (const auto& [op, difference] : differences()) {
    listed.push_back(stock_entry(op, {}));
    differ(listed.back(), difference);
  }
  return manifest_with(std::move(listed));
}

std::vector<protocol::ManifestEntry> stock_manifest_here() {
  return on_cuda() ? stock_cuda_manifest() : stock_manifest();
}

}  // namespace bic::libtorch
