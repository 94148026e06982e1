#pragma once

#include <string>

namespace bic::libtorch {

/// The address of `function` in `library`, a file in the folder that holds this one, opened when it
/// is first asked for and never closed. Null where there is no such file. Throws
/// std::runtime_error, with the loader's line, where it cannot be opened or has no such function.
void* function_beside(const std::string& library, const char* function);

}  // namespace bic::libtorch
