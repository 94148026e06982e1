#include <algorithm>
#include <utility>

#include "adapters/libtorch_invariant/kernels.h"
#include "adapters/libtorch_invariant/registration.h"

namespace bic::libtorch_invariant {
namespace {

using protocol::ManifestEntry;

/// The arithmetic is that of the kernel's header, its source; double computes in double.
ManifestEntry entry(std::string op,
                    const Arithmetic& narrow,
                    const std::vector<std::string>& overloads,
                    const std::vector<std::string>& changed) {
  ManifestEntry e{std::move(op), {kAllDTypes.begin(), kAllDTypes.end()}, {}, {}, ""};
  for (DType dtype : e.dtypes) {
    e.arithmetic[dtype] = narrow;
    e.arithmetic[dtype].source.insert(0, kFolder);
    if (dtype == DType::kFloat64) e.arithmetic[dtype].accumulator = DType::kFloat64;
  }
  for (const std::string& overload : overloads) {
    if (std::find(changed.begin(), changed.end(), overload) != changed.end()) {
      e.own.push_back(overload);
    }
  }
  if (e.own.empty()) e.stock_reason = "its registration changed no row of ATen's dispatch table";
  return e;
}

void form_narrow(ManifestEntry& e, const char* form) {
  e.arithmetic[DType::kBFloat16].form = e.arithmetic[DType::kFloat16].form = form;
}

/// Products and convolutions, whose bf16 may go through an instruction that flushes.
std::vector<ManifestEntry> products(const std::vector<std::string>& changed) {
  const Arithmetic gemm{.source = "gemm.h: fp32 sums, bias before the rounding"};
  const Arithmetic convolution{.source = "convolution.h: fp32 sums, bias before the rounding"};
  std::vector<ManifestEntry> all{
      entry("mm", gemm, {"aten::mm", "aten::mm.out"}, changed),
      entry("linear", gemm, {"aten::linear", "aten::linear.out"}, changed),
      entry("bmm", gemm, {"aten::bmm", "aten::bmm.out"}, changed),
      entry("addmm", gemm, {"aten::addmm", "aten::addmm.out", "aten::addmm_"}, changed),
      entry("baddbmm", gemm, {"aten::baddbmm", "aten::baddbmm.out", "aten::baddbmm_"}, changed),
      entry("matmul", gemm, {"aten::matmul", "aten::matmul.out"}, changed),
      entry("mv", gemm, {"aten::mv", "aten::mv.out"}, changed),
      entry("dot", gemm, {"aten::dot"}, changed),
      entry("conv2d", convolution, {"aten::convolution"}, changed),
      entry("conv1d", convolution, {"aten::convolution"}, changed),
  };
  for (ManifestEntry& e : all) {
    form_narrow(e, kNarrowProducts);
    e.arithmetic[DType::kBFloat16].flushes_subnormals = flushes_bf16();
  }
  return all;
}

std::vector<ManifestEntry> reductions(const std::vector<std::string>& changed) {
  const Arithmetic sums{.source = "sum.h: fp32 sums, variances in two passes"};
  ManifestEntry cumsum =
      entry("cumsum",
            {.source = "cumsum.h: sums of fp32 in fp64, of 16-bit types in fp32"},
            {"aten::cumsum", "aten::cumsum.out", "aten::cumsum_"},
            changed);
  cumsum.arithmetic[DType::kFloat32].accumulator = DType::kFloat64;
  return {
      entry("mean", sums, {"aten::mean.dim", "aten::mean.out"}, changed),
      entry("var", sums, {"aten::var.correction", "aten::var.correction_out"}, changed),
      entry("std", sums, {"aten::std.correction", "aten::std.correction_out"}, changed),
      entry("var_mean", sums, {"aten::var_mean.correction"}, changed),
      entry("vector_norm",
            sums,
            {"aten::linalg_vector_norm", "aten::linalg_vector_norm.out"},
            changed),
      cumsum,
      entry("prod",
            {.source = "sum.h: fp32 products"},
            {"aten::prod", "aten::prod.dim_int", "aten::prod.int_out"},
            changed),
  };
}

std::vector<ManifestEntry> norms(const std::vector<std::string>& changed) {
  const Arithmetic exponential{.elementary_ulps = 2, .source = "softmax.h: exp within 2 ulp"};
  return {
      entry("log_softmax", exponential, {"aten::_log_softmax", "aten::_log_softmax.out"}, changed),
      entry("log_softmax_fp32",
            exponential,
            {"aten::_log_softmax", "aten::_log_softmax.out"},
            changed),
      entry("logsumexp", exponential, {"aten::logsumexp", "aten::logsumexp.out"}, changed),
      entry("rms_norm", {.source = "layer_norm.h: no mean"}, {"aten::rms_norm"}, changed),
      entry("group_norm",
            {.source = "layer_norm.h: two passes"},
            {"aten::native_group_norm"},
            changed),
      entry("batch_norm",
            {.source = "batch_norm.h"},
            {"aten::native_batch_norm", "aten::cudnn_batch_norm"},
            changed),
  };
}

ManifestEntry attention(const std::vector<std::string>& changed) {
  ManifestEntry e = entry("scaled_dot_product_attention",
                          {.elementary_ulps = 2, .source = "attention.h: exp within 2 ulp"},
                          {"aten::scaled_dot_product_attention"},
                          changed);
  form_narrow(e, kNarrowAttention);
  return e;
}

std::vector<ManifestEntry> pointwise(const std::vector<std::string>& changed) {
  const auto within = [](const std::string& op) {
    const int ulps = pointwise_ulps(op);
    return Arithmetic{.elementary_ulps = ulps,
                      .source = "pointwise.h: within " + std::to_string(ulps) + " ulp"};
  };
  std::vector<ManifestEntry> all;
  for (const std::string op : {"silu", "sigmoid", "tanh", "exp", "log", "rsqrt", "sin", "cos"}) {
    const std::string overload = "aten::" + op;
    all.push_back(entry(op, within(op), {overload, overload + ".out", overload + "_"}, changed));
  }
  all.push_back(entry("pow",
                      within("pow"),
                      {"aten::pow.Tensor_Scalar",
                       "aten::pow.Tensor_Scalar_out",
                       "aten::pow_.Scalar",
                       "aten::pow.Tensor_Tensor",
                       "aten::pow.Tensor_Tensor_out",
                       "aten::pow_.Tensor"},
                      changed));
  all.push_back(entry("add",
                      {.source = "pointwise.h: fused multiply-adds"},
                      {"aten::add.Tensor", "aten::add.out", "aten::add_.Tensor"},
                      changed));
  return all;
}

}  // namespace

std::vector<ManifestEntry> manifest(const std::vector<std::string>& changed) {
  std::vector<ManifestEntry> all = products(changed);
  std::vector<ManifestEntry> others{
      entry("sum",
            {.source = "sum.h: fp32 sums"},
            {"aten::sum", "aten::sum.dim_IntList", "aten::sum.IntList_out"},
            changed),
      entry("softmax",
            {.elementary_ulps = 2, .source = "softmax.h: exp within 2 ulp"},
            {"aten::_softmax", "aten::_softmax.out"},
            changed),
      entry("layer_norm",
            {.source = "layer_norm.h: two passes"},
            {"aten::native_layer_norm"},
            changed),
      attention(changed),
      entry("gelu",
            {.elementary_ulps = 4, .source = "gelu.h: within 4 ulp"},
            {"aten::gelu", "aten::gelu.out", "aten::gelu_"},
            changed),
  };
  for (ManifestEntry& e : others) all.push_back(std::move(e));
  for (ManifestEntry& e : reductions(changed)) all.push_back(std::move(e));
  for (ManifestEntry& e : norms(changed)) all.push_back(std::move(e));
  for (ManifestEntry& e : pointwise(changed)) all.push_back(std::move(e));
  return all;
}

}  // namespace bic::libtorch_invariant
