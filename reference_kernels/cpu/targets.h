#pragma once

// Which targets Highway compiles the kernels for. SSE4 brings nothing over the baseline, which is
// SSSE3 (see CMakeLists.txt); scalable vectors have no compile-time lane count.
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

/// Defines void name(const Args<T>&, const ParallelFor&) for the four dtypes: each calls the
/// target's name_f32, ... Use once a file, under HWY_ONCE, in bic::cpu.
#define BIC_CPU_EXPORT(name, Args)                                            \
  HWY_EXPORT(name##_f32);                                                     \
  HWY_EXPORT(name##_f64);                                                     \
  HWY_EXPORT(name##_bf16);                                                    \
  HWY_EXPORT(name##_f16);                                                     \
  template <>                                                                 \
  void name(const Args<float>& args, const ParallelFor& parallel) {           \
    HWY_DYNAMIC_DISPATCH(name##_f32)(args, parallel);                         \
  }                                                                           \
  template <>                                                                 \
  void name(const Args<double>& args, const ParallelFor& parallel) {          \
    HWY_DYNAMIC_DISPATCH(name##_f64)(args, parallel);                         \
  }                                                                           \
  template <>                                                                 \
  void name(const Args<hwy::bfloat16_t>& args, const ParallelFor& parallel) { \
    HWY_DYNAMIC_DISPATCH(name##_bf16)(args, parallel);                        \
  }                                                                           \
  template <>                                                                 \
  void name(const Args<hwy::float16_t>& args, const ParallelFor& parallel) {  \
    HWY_DYNAMIC_DISPATCH(name##_f16)(args, parallel);                         \
  }
