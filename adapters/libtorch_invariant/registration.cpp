#include "adapters/libtorch_invariant/registration.h"

#include <torch/library.h>

#include "adapters/libtorch_invariant/dispatch_rows.h"
#include "adapters/libtorch_invariant/kernels.h"
#include "adapters/libtorch_invariant/ops.h"
#include "adapters/libtorch_invariant/silence.h"

namespace bic::libtorch_invariant {
namespace {

void register_reductions(torch::Library& library) {
  library.impl("sum", TORCH_FN(sum));
  library.impl("sum.dim_IntList", TORCH_FN(sum_dim));
  library.impl("sum.IntList_out", TORCH_FN(sum_dim_out));
  library.impl("mean.dim", TORCH_FN(mean_dim));
  library.impl("mean.out", TORCH_FN(mean_out));
  library.impl("var.correction", TORCH_FN(var_correction));
  library.impl("var.correction_out", TORCH_FN(var_correction_out));
  library.impl("std.correction", TORCH_FN(std_correction));
  library.impl("std.correction_out", TORCH_FN(std_correction_out));
  library.impl("var_mean.correction", TORCH_FN(var_mean));
  library.impl("std_mean.correction", TORCH_FN(std_mean));
  library.impl("linalg_vector_norm", TORCH_FN(vector_norm));
  library.impl("linalg_vector_norm.out", TORCH_FN(vector_norm_out));
  library.impl("prod", TORCH_FN(prod));
  library.impl("prod.dim_int", TORCH_FN(prod_dim));
  library.impl("prod.int_out", TORCH_FN(prod_dim_out));
  library.impl("cumsum", TORCH_FN(cumsum));
  library.impl("cumsum.out", TORCH_FN(cumsum_out));
  library.impl("cumsum_", TORCH_FN(cumsum_));
}

void register_all(torch::Library& library) {
  library.impl("mm", TORCH_FN(mm));
  library.impl("mm.out", TORCH_FN(mm_out));
  library.impl("bmm", TORCH_FN(bmm));
  library.impl("bmm.out", TORCH_FN(bmm_out));
  library.impl("addmm", TORCH_FN(addmm));
  library.impl("addmm.out", TORCH_FN(addmm_out));
  library.impl("addmm_", TORCH_FN(addmm_));
  library.impl("baddbmm", TORCH_FN(baddbmm));
  library.impl("baddbmm.out", TORCH_FN(baddbmm_out));
  library.impl("baddbmm_", TORCH_FN(baddbmm_));
  library.impl("mv", TORCH_FN(mv));
  library.impl("mv.out", TORCH_FN(mv_out));
  library.impl("dot", TORCH_FN(dot));
  library.impl("convolution", TORCH_FN(convolution));
  library.impl("linear", TORCH_FN(linear));
  library.impl("linear.out", TORCH_FN(linear_out));
  library.impl("matmul", TORCH_FN(matmul));
  library.impl("matmul.out", TORCH_FN(matmul_out));
  library.impl("_softmax", TORCH_FN(softmax));
  library.impl("_softmax.out", TORCH_FN(softmax_out));
  library.impl("_log_softmax", TORCH_FN(log_softmax));
  library.impl("_log_softmax.out", TORCH_FN(log_softmax_out));
  library.impl("logsumexp", TORCH_FN(logsumexp));
  library.impl("logsumexp.out", TORCH_FN(logsumexp_out));
  library.impl("native_layer_norm", TORCH_FN(native_layer_norm));
  library.impl("rms_norm", TORCH_FN(rms_norm));
  library.impl("native_group_norm", TORCH_FN(native_group_norm));
  library.impl("native_batch_norm", TORCH_FN(native_batch_norm));
  library.impl("scaled_dot_product_attention", TORCH_FN(scaled_dot_product_attention));
  library.impl("gelu", TORCH_FN(gelu));
  library.impl("gelu.out", TORCH_FN(gelu_out));
  library.impl("gelu_", TORCH_FN(gelu_));
  register_reductions(library);
  register_pointwise(library);
  register_of_device(library);
}

}  // namespace

struct Registration::Libraries {
  torch::Library aten{torch::Library::IMPL, "aten", kKey, __FILE__, __LINE__};
};

Registration::Registration() {
  const std::map<std::string, std::string> before = dispatch_rows(c10::toString(kKey));
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  libraries_ = std::make_unique<Libraries>();
  register_all(libraries_->aten);
  changed_ = rows_changed_since(before, c10::toString(kKey));
}

Registration::~Registration() = default;

}  // namespace bic::libtorch_invariant
