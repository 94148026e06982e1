#include "reference_kernels/cpu/gemm_bf16_dot.h"

#include <atomic>

namespace bic::cpu {
namespace {

std::atomic<bool> pretended{false};

bool found() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512bf16");
  return has;
#else
  return false;
#endif
}

}  // namespace

bool has_bf16_dot() { return !pretended && found(); }

void pretend_no_bf16_dot(bool lacks) { pretended = lacks; }

}  // namespace bic::cpu
