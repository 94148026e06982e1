// lib/libbic_models.so: whole models for a process that has a torch of its own, which must be the
// one named in lib/libbic_models.torch. The Python worker loads it.
#include <exception>
#include <string>

#include "adapters/libtorch/pi0_ops.h"

/// The torch that the library was built against: version, a space, commit.
extern "C" __attribute__((visibility("default"))) const char* bic_models_torch() {
  return BIC_TORCH_BUILT;
}

/// Defines the models' operators until the process ends. Returns why it could not, else "".
extern "C" __attribute__((visibility("default"))) const char* bic_models_register() {
  static std::string error;
  try {
    // Never destroyed: at exit torch may be gone before it.
    [[maybe_unused]] static const auto* const operators = new bic::libtorch::Pi0Operators;
    error.clear();
  } catch (const std::exception& e) {
    error = e.what();
  }
  return error.c_str();
}
