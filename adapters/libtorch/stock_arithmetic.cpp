#include "adapters/libtorch/stock_arithmetic.h"

#include <algorithm>
#include <string>
#include <utility>

#include "adapters/libtorch/stock_cuda_arithmetic.h"
#include "suites/ops/op_spec.h"

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

/// In 16 bits the op rounds on its way too: `form`, and where that was seen.
void round_more(ManifestEntry& e, const std::string& form, const std::string& source) {
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    e.arithmetic[dtype].form = form;
    e.arithmetic[dtype].source += source;
  }
}

ManifestEntry contraction(std::string op) {
  ManifestEntry e = stock_entry(
      std::move(op),
      {.source = "measured on AVX2: sums in fp32 (fp64 for fp64), one rounding to 16-bit types"});
  e.arithmetic[DType::kBFloat16].flushes_subnormals = bf16_flushes();
  return e;
}

ManifestEntry linear() {
  ManifestEntry e = contraction("linear");
  round_more(e,
             "round-before-bias",
             "; a rank-3 input that does not flatten to a view reaches bmm, which rounds, then an "
             "addition, which rounds again (RecordFunction; one rounding is exceeded)");
  return e;
}

ManifestEntry softmax() {
  ManifestEntry e = stock_entry(
      "softmax",
      {.elementary_ulps = 2, .source = "measured on AVX2: exp within 2 ulp in fp32, one division"});
  round_more(
      e,
      "round-exp",
      "; along an axis that is not the last e is rounded before the division (one rounding is "
      "exceeded; SoftMaxKernel.cpp of another commit does so in its scalar tail)");
  return e;
}

ManifestEntry attention() {
  ManifestEntry e =
      stock_entry("scaled_dot_product_attention",
                  {.elementary_ulps = 4,
                   .source = "measured on AVX-512: sums in fp32; header vec512_float.h: "
                             "exp_u20, measured within 3.3 ulp (its comment says 20)"});
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    e.arithmetic[dtype].elementary_ulps = 944;
    e.arithmetic[dtype].form = "round-weights";
    e.arithmetic[dtype].source =
        "header vec512_float.h: fexp_u20, a cubic in the exponent's fraction (measured: 1.13e-4 "
        "off, 944 ulp); the weights of the numerator are rounded, those of the sum are not "
        "(FlashAttentionKernel.cpp of another commit). Measured: better ones are exceeded";
  }
  e.arithmetic[DType::kFloat64].elementary_ulps = 2;
  e.arithmetic[DType::kFloat64].source = "header vec512_double.h: exp of Sleef, 1 ulp";
  return e;
}

ManifestEntry gelu() {
  ManifestEntry e = stock_entry(
      "gelu",
      {.elementary_ulps = 5,
       .form = "1+erf",
       .source =
           "headers Gelu.h: x * 0.5 * (1 + erf(x / sqrt 2)); vec256_float.h: erf by Abramowitz "
           "and Stegun 7.1.26, |error| <= 1.5e-7, and fp32 roundings of its terms of size 1 "
           "(measured: 3 ulp of 1 are exceeded in 6000 problems, 4 in rows of 5120, 5 hold)"});
  e.arithmetic[DType::kBFloat16].flushes_subnormals = bf16_flushes();
  e.arithmetic[DType::kBFloat16].source += "; large tensors reach oneDNN, measured to flush";
  e.arithmetic[DType::kFloat64].elementary_ulps = 2;
  e.arithmetic[DType::kFloat64].source =
      "headers Gelu.h as above; vec256_double.h: erf and tanh of Sleef, 1 ulp";
  return e;
}

/// var, std and var_mean.
ManifestEntry moments(std::string op) {
  ManifestEntry e = stock_entry(
      std::move(op),
      {.source = "header SharedReduceOps.h: WelfordOps; measured on AVX-512: in fp64 for every "
                 "type, rounded to fp32 on the way to 16 bits"});
  e.arithmetic[DType::kFloat32].accumulator = DType::kFloat64;
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) e.arithmetic[dtype].form = "welford";
  return e;
}

ManifestEntry cumsum() {
  ManifestEntry e = stock_entry("cumsum", {.source = "sums in fp32, fp64 for fp64; one rounding"});
  e.arithmetic[DType::kFloat32].accumulator = DType::kFloat64;
  e.arithmetic[DType::kFloat32].source = "measured on AVX-512: sums in fp64";
  return e;
}

ManifestEntry log_softmax() {
  ManifestEntry e = stock_entry("log_softmax", {.source = "measured on AVX-512: exp within 2 ulp"});
  round_more(e,
             "round-log",
             "; along the last axis the sum and its logarithm are kept in 16 bits (one rounding is "
             "exceeded; SoftMaxKernel.cpp of another commit)");
  return e;
}

ManifestEntry logsumexp() {
  ManifestEntry e = stock_entry("logsumexp", {.source = "measured on AVX-512: exp within 2 ulp"});
  round_more(
      e,
      "round-all",
      "; every step is an op of its own (RecordFunction: amax, sub, exp_, sum.IntList_out, log_, "
      "add_), which rounds (one rounding is exceeded)");
  return e;
}

/// group_norm and batch_norm of row-major tensors.
ManifestEntry folded(std::string op, const std::string& moments) {
  return stock_entry(
      std::move(op),
      {.form = "folded",
       .source = moments +
                 "measured on AVX-512: x * s + (b - mean * s) holds, (x - mean) * s + b is "
                 "exceeded"});
}

ManifestEntry prod() {
  ManifestEntry e = stock_entry("prod", {.source = "products in fp32, fp64 for fp64"});
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    e.arithmetic[dtype] = {.accumulator = dtype,
                           .source =
                               "measured on AVX-512: each product is rounded to 16 bits "
                               "(fp32 products are exceeded)"};
  }
  return e;
}

ManifestEntry rsqrt() {
  ManifestEntry e = stock_entry("rsqrt", {.source = "measured on AVX-512: a root and a division"});
  round_more(
      e,
      "round-root",
      "; the root is rounded to 16 bits (one rounding is exceeded; UnaryOpsKernel.cpp of another "
      "commit divides 1 by a vector's sqrt)");
  return e;
}

ManifestEntry pow() {
  ManifestEntry e = stock_entry("pow", {.source = "measured on AVX-512: pow of Sleef, 1 ulp"});
  e.arithmetic[DType::kBFloat16].form = "round-square";
  e.arithmetic[DType::kBFloat16].source +=
      "; x^3 is x^2, rounded, times x (one rounding is exceeded; PowKernel.cpp of another commit)";
  return e;
}

ManifestEntry add() {
  ManifestEntry e = stock_entry("add", {.source = "measured on AVX-512: one rounding"});
  round_more(
      e,
      "round-alpha",
      ", but of alpha too, and in places of alpha times the other (one rounding is exceeded)");
  return e;
}

ManifestEntry rotary() {
  ManifestEntry e = stock_entry("rotary", {.source = "four ops: each rounds, also to 16 bits"});
  round_more(e, "round-products", "");
  return e;
}

ManifestEntry batch_norm() {
  ManifestEntry e = folded("batch_norm", "");
  round_more(e,
             "round-all",
             "; a tensor with gaps is computed step by step in 16 bits (one rounding is exceeded; "
             "Normalization.cpp of another commit)");
  return e;
}

/// The ops whose arithmetic was looked at or differs from the default.
std::vector<ManifestEntry> known() {
  return {
      contraction("mm"),
      linear(),
      contraction("bmm"),
      contraction("addmm"),
      contraction("baddbmm"),
      contraction("matmul"),
      contraction("mv"),
      contraction("dot"),
      contraction("conv2d"),
      contraction("conv1d"),
      stock_entry("sum", {.source = "measured on AVX2: sums in fp32 for 16-bit types"}),
      stock_entry("mean", {.source = "measured on AVX-512: sums in fp32, one rounding"}),
      moments("var"),
      moments("std"),
      moments("var_mean"),
      cumsum(),
      prod(),
      softmax(),
      stock_entry(
          "layer_norm",
          {.form = "ax+b",
           .source =
               "header moments_utils.h: moments by Welford's updates; measured on AVX2: x * rstd + "
               "(-mean * rstd) holds, (x - mean) * rstd is exceeded"}),
      attention(),
      log_softmax(),
      logsumexp(),
      folded("group_norm", "header moments_utils.h: moments by Welford's updates; "),
      batch_norm(),
      gelu(),
      rsqrt(),
      pow(),
      add(),
      rotary(),
  };
}

std::vector<ManifestEntry>::iterator find_entry(std::vector<ManifestEntry>& entries,
                                                const std::string& op) {
  return std::find_if(
      entries.begin(), entries.end(), [&](const ManifestEntry& e) { return e.op == op; });
}

void restrict_to(ManifestEntry& e, const std::vector<DType>& dtypes) {
  e.dtypes = dtypes;
  std::erase_if(e.arithmetic, [&](const auto& a) {
    return std::find(dtypes.begin(), dtypes.end(), a.first) == dtypes.end();
  });
}

}  // namespace

ManifestEntry stock_entry(std::string op, const Arithmetic& narrow) {
  ManifestEntry e{std::move(op), {kAllDTypes.begin(), kAllDTypes.end()}, {}, {}, "stock ATen"};
  for (DType dtype : e.dtypes) {
    e.arithmetic[dtype] = narrow;
    if (dtype == DType::kFloat64) e.arithmetic[dtype].accumulator = DType::kFloat64;
  }
  return e;
}

std::vector<ManifestEntry> manifest_with(std::vector<ManifestEntry> listed) {
  std::vector<ManifestEntry> all;
  for (const OpSpec& op : registry()) {
    const auto at = find_entry(listed, op.name);
    all.push_back(
        at != listed.end()
            ? std::move(*at)
            : stock_entry(op.name, {.source = "sums in fp32, fp64 for fp64; one rounding"}));
    restrict_to(all.back(), op.dtypes);
  }
  return all;
}

std::vector<ManifestEntry> stock_manifest() { return manifest_with(known()); }

std::vector<ManifestEntry> completed(std::vector<ManifestEntry> own) {
  std::vector<ManifestEntry> all = stock_manifest_here();
  for (ManifestEntry& e : all) {
    const auto at = find_entry(own, e.op);
    e.stock_reason = "moves bytes or rounds once: no honest kernel has other bits";
    if (at == own.end()) continue;
    restrict_to(*at, e.dtypes);
    e = std::move(*at);
  }
  return all;
}

}  // namespace bic::libtorch
