#pragma once

/// Loops compiled once for the baseline and once for AVX2. Bytes cannot depend on which one runs:
/// the bodies hold integer arithmetic and single IEEE operations only, and no contraction is
/// allowed.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(BIC_BASELINE_ONLY)
#define BIC_HAS_AVX2_PATH 1
#define BIC_TARGET_AVX2 __attribute__((target("avx2")))
#else
#define BIC_HAS_AVX2_PATH 0
#define BIC_TARGET_AVX2
#endif
/// A lambda's body that is to be compiled for its caller's instruction set.
#define BIC_LOOP __attribute__((always_inline))

namespace bic::isa {

/// Asked at run time rather than through an ifunc, whose resolver runs before a sanitizer is ready.
inline bool has_avx2() {
#if BIC_HAS_AVX2_PATH
  static const bool yes = __builtin_cpu_supports("avx2");
  return yes;
#else
  return false;
#endif
}

/// Takes its own copy of `loop`, whose captures then cannot alias what it writes.
template <typename Loop>
BIC_TARGET_AVX2 void run_for_avx2(Loop loop) {
  loop();
}

/// Calls `loop`, a lambda marked BIC_LOOP, compiled for the widest instruction set of this machine.
template <typename Loop>
void run_widest(const Loop& loop) {
  if (has_avx2()) {
    run_for_avx2(loop);
  } else {
    loop();
  }
}

}  // namespace bic::isa
