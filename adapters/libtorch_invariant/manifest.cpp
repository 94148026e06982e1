#include <algorithm>
#include <utility>

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

}  // namespace

std::vector<ManifestEntry> manifest(const std::vector<std::string>& changed) {
  const Arithmetic gemm{.source =
                            "reference_kernels/cpu/gemm.h: fp32 sums, bias before the rounding"};
  return {
      entry("mm", gemm, {"aten::mm", "aten::mm.out"}, changed),
      entry("linear", gemm, {"aten::linear", "aten::linear.out"}, changed),
      entry("bmm", gemm, {"aten::bmm", "aten::bmm.out"}, changed),
      entry("sum",
            {.source = "reference_kernels/cpu/sum.h: fp32 sums"},
            {"aten::sum", "aten::sum.dim_IntList", "aten::sum.IntList_out"},
            changed),
      entry("softmax",
            {.elementary_ulps = 2, .source = "reference_kernels/cpu/softmax.h: exp within 2 ulp"},
            {"aten::_softmax", "aten::_softmax.out"},
            changed),
      entry("layer_norm",
            {.source = "reference_kernels/cpu/layer_norm.h: two passes"},
            {"aten::native_layer_norm"},
            changed),
      entry("gelu",
            {.elementary_ulps = 4, .source = "reference_kernels/cpu/gelu.h: within 4 ulp"},
            {"aten::gelu", "aten::gelu.out", "aten::gelu_"},
            changed),
  };
}

}  // namespace bic::libtorch_invariant
