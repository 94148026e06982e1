#pragma once

#include <map>
#include <string>

#include "adapters/libtorch/backend.h"

namespace bic::libtorch {

/// Every study of a whole model, by the name in the protocol's request.
std::map<std::string, Study> studies();

}  // namespace bic::libtorch
