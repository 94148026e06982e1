#pragma once

#include <string>

#include "results_schema/error.h"

namespace bic::signing {

/// What is not accepted, and by which rule: "signature: no key of the policy made it". Exit 5.
struct Refusal : Error {
  Refusal(const std::string& rule, const std::string& problem)
      : Error(ExitCode::kSignature, rule + ": " + problem) {}
};

}  // namespace bic::signing
