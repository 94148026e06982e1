#include "adapters/libtorch_invariant/registration.h"

#include <c10/util/Exception.h>
#include <torch/library.h>

#include "adapters/libtorch_invariant/dispatch_rows.h"
#include "adapters/libtorch_invariant/ops.h"

namespace bic::libtorch_invariant {
namespace {

/// Registering over a kernel is what we are here for; c10 warns of it.
class Silence final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

void register_all(torch::Library& library) {
  library.impl("mm", TORCH_FN(mm));
  library.impl("mm.out", TORCH_FN(mm_out));
  library.impl("bmm", TORCH_FN(bmm));
  library.impl("bmm.out", TORCH_FN(bmm_out));
  library.impl("addmm", TORCH_FN(addmm));
  library.impl("addmm.out", TORCH_FN(addmm_out));
  library.impl("linear", TORCH_FN(linear));
  library.impl("linear.out", TORCH_FN(linear_out));
  library.impl("matmul", TORCH_FN(matmul));
  library.impl("matmul.out", TORCH_FN(matmul_out));
  library.impl("sum", TORCH_FN(sum));
  library.impl("sum.dim_IntList", TORCH_FN(sum_dim));
  library.impl("sum.IntList_out", TORCH_FN(sum_dim_out));
  library.impl("_softmax", TORCH_FN(softmax));
  library.impl("_softmax.out", TORCH_FN(softmax_out));
  library.impl("native_layer_norm", TORCH_FN(native_layer_norm));
  library.impl("gelu", TORCH_FN(gelu));
  library.impl("gelu.out", TORCH_FN(gelu_out));
  library.impl("gelu_", TORCH_FN(gelu_));
}

}  // namespace

struct Registration::Libraries {
  torch::Library cpu{torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__};
};

Registration::Registration() {
  const std::map<std::string, std::string> before = cpu_rows();
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  libraries_ = std::make_unique<Libraries>();
  register_all(libraries_->cpu);
  changed_ = rows_changed_since(before);
}

Registration::~Registration() = default;

}  // namespace bic::libtorch_invariant
