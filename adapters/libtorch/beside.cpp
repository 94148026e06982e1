#include "adapters/libtorch/beside.h"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

namespace bic::libtorch {

void* function_beside(const std::string& library, const char* function) {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&function_beside), &here);
  const auto path = std::filesystem::path(here.dli_fname).replace_filename(library);
  if (!std::filesystem::exists(path)) return nullptr;
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = opened == nullptr ? nullptr : dlsym(opened, function);
  if (found == nullptr) throw std::runtime_error("cannot load " + library + ": " + dlerror());
  return found;
}

}  // namespace bic::libtorch
