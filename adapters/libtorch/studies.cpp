#include "adapters/libtorch/studies.h"

namespace bic::libtorch {

std::map<std::string, Study> studies() { return {}; }

}  // namespace bic::libtorch
