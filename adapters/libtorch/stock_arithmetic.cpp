#include "adapters/libtorch/stock_arithmetic.h"

#include <string>
#include <utility>

// Read in torch 2.11.0 (commit 70d99e99) and checked by stock_arithmetic_test.cpp, which shows that
// the bound of every entry holds. Sums are in fp32 for all types of at most 32 bits, else in fp64.
// Where several dispatch paths serve an op, the entry is that of the loosest.

namespace bic::libtorch {
namespace {

using protocol::ManifestEntry;

/// VDPBF16PS, which oneDNN's bf16 GEMM uses where the CPU has it, flushes subnormal operands and
/// results whatever MXCSR says (Intel SDM, VDPBF16PS).
bool bf16_flushes() { return __builtin_cpu_supports("avx512bf16"); }

ManifestEntry entry(std::string op, const Arithmetic& narrow) {
  ManifestEntry e{std::move(op), {kAllDTypes.begin(), kAllDTypes.end()}, {}, {}, "stock ATen"};
  for (DType dtype : e.dtypes) {
    e.arithmetic[dtype] = narrow;
    if (dtype == DType::kFloat64) e.arithmetic[dtype].accumulator = DType::kFloat64;
  }
  return e;
}

ManifestEntry contraction(std::string op) {
  ManifestEntry e = entry(
      std::move(op),
      {.source = "fp32 and fp64: MKL gemm; bf16, fp16: oneDNN (mkldnn_matmul) or BlasKernel.cpp, "
                 "sums in fp32, one rounding"});
  e.arithmetic[DType::kBFloat16].flushes_subnormals = bf16_flushes();
  return e;
}

ManifestEntry linear() {
  ManifestEntry e = contraction("linear");
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    e.arithmetic[dtype].form = "round-before-bias";
    e.arithmetic[dtype].source +=
        "; Linear.cpp: a rank-3 input that does not flatten to a view takes matmul, which rounds, "
        "then add_, which rounds again";
  }
  return e;
}

ManifestEntry softmax() {
  ManifestEntry e = entry(
      "softmax",
      {.elementary_ulps = 2, .source = "SoftMaxKernel.cpp: (x - max).exp_u20() in fp32, e / sum"});
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    e.arithmetic[dtype].form = "round-exp";
    e.arithmetic[dtype].source +=
        "; vec_softmax, along an axis that is not the last: the scalar tail keeps e in the output, "
        "rounded, and divides that";
  }
  return e;
}

ManifestEntry gelu() {
  ManifestEntry e = entry(
      "gelu",
      {.elementary_ulps = 4,
       .form = "1+erf",
       .source =
           "Gelu.h: x * 0.5 * (1 + erf(x / sqrt 2)); fp32 erf in vec256_float.h by Abramowitz "
           "and Stegun 7.1.26, |error| <= 1.5e-7, and fp32 roundings of its terms of size 1 "
           "(measured: 2 ulp of 1 are exceeded, 3 are not)"});
  e.arithmetic[DType::kFloat64].elementary_ulps = 2;
  e.arithmetic[DType::kFloat64].source = "Gelu.h as above; erf and tanh of Sleef, 1 ulp";
  return e;
}

}  // namespace

std::vector<ManifestEntry> stock_manifest() {
  return {
      contraction("mm"),
      linear(),
      contraction("bmm"),
      entry("sum", {.source = "SumKernel.cpp: cascade sums in fp32 for 16-bit types"}),
      softmax(),
      entry(
          "layer_norm",
          {.form = "ax+b",
           .source = "layer_norm_kernel.cpp: RowwiseMoments (Welford), x * rstd + (-mean * rstd)"}),
      gelu(),
  };
}

}  // namespace bic::libtorch
