#include "adapters/libtorch/stock_arithmetic.h"

#include <string>
#include <utility>

// Every entry is measured: stock_arithmetic_test.cpp shows on torch 2.11.0 that its bound holds, so
// far on a CPU with AVX2 and without AVX-512 only. Its source says what was also read: "header" is
// one of the headers of the 2.11.0 package; "other commit" a source file of another version of
// torch, which suggested the form. Sums are in fp32 for types of at most 32 bits, else in fp64.
// Where several dispatch paths serve an op, the entry is that of the loosest one seen.

namespace bic::libtorch {
namespace {

using protocol::ManifestEntry;

/// VDPBF16PS, which oneDNN's bf16 GEMM uses where the CPU has it, flushes subnormal operands and
/// results whatever MXCSR says (Intel SDM, VDPBF16PS). Not measured: it needs such a CPU.
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
      {.source = "measured on AVX2: sums in fp32 (fp64 for fp64), one rounding to 16-bit types"});
  e.arithmetic[DType::kBFloat16].flushes_subnormals = bf16_flushes();
  return e;
}

ManifestEntry linear() {
  ManifestEntry e = contraction("linear");
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    e.arithmetic[dtype].form = "round-before-bias";
    e.arithmetic[dtype].source +=
        "; a rank-3 input that does not flatten to a view reaches bmm, which rounds, then an "
        "addition, which rounds again (RecordFunction; one rounding is exceeded)";
  }
  return e;
}

ManifestEntry softmax() {
  ManifestEntry e = entry(
      "softmax",
      {.elementary_ulps = 2, .source = "measured on AVX2: exp within 2 ulp in fp32, one division"});
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    e.arithmetic[dtype].form = "round-exp";
    e.arithmetic[dtype].source +=
        "; along an axis that is not the last e is rounded before the division (one rounding is "
        "exceeded; SoftMaxKernel.cpp of another commit does so in its scalar tail)";
  }
  return e;
}

ManifestEntry gelu() {
  ManifestEntry e = entry(
      "gelu",
      {.elementary_ulps = 4,
       .form = "1+erf",
       .source =
           "headers Gelu.h: x * 0.5 * (1 + erf(x / sqrt 2)); vec256_float.h: erf by Abramowitz "
           "and Stegun 7.1.26, |error| <= 1.5e-7, and fp32 roundings of its terms of size 1 "
           "(measured over 6000 problems: 3 ulp of 1 are exceeded, 4 hold)"});
  e.arithmetic[DType::kFloat64].elementary_ulps = 2;
  e.arithmetic[DType::kFloat64].source =
      "headers Gelu.h as above; vec256_double.h: erf and tanh of Sleef, 1 ulp";
  return e;
}

}  // namespace

std::vector<ManifestEntry> stock_manifest() {
  return {
      contraction("mm"),
      linear(),
      contraction("bmm"),
      entry("sum", {.source = "measured on AVX2: sums in fp32 for 16-bit types"}),
      softmax(),
      entry(
          "layer_norm",
          {.form = "ax+b",
           .source =
               "header moments_utils.h: moments by Welford's updates; measured on AVX2: x * rstd + "
               "(-mean * rstd) holds, (x - mean) * rstd is exceeded"}),
      gelu(),
  };
}

}  // namespace bic::libtorch
