#pragma once

#include <c10/util/Exception.h>

namespace bic::libtorch_invariant {

/// Registering over a kernel is what we are here for; c10 warns of it.
class Silence final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

}  // namespace bic::libtorch_invariant
