#pragma once

#include <string>

#include "results_schema/vocabulary.h"

namespace bic {

/// The real attribute `name`, written in C hex-float or in decimals. Throws HarnessError when it is
/// missing or no number.
double real_attribute(const Attributes& attributes, const std::string& name);

/// The text attribute `name`, or `otherwise` when it is missing.
std::string text_attribute(const Attributes& attributes,
                           const std::string& name,
                           const std::string& otherwise);

}  // namespace bic
