#include "adapters/libtorch/user_library.h"

#include <dlfcn.h>

#include <stdexcept>
#include <utility>

#include "adapters/libtorch/device.h"
#include "adapters/libtorch/stock_cuda_arithmetic.h"
#include "adapters/libtorch_invariant/dispatch_rows.h"
#include "adapters/libtorch_invariant/registration.h"

namespace bic::libtorch {
namespace {

/// Names the library among those that the subject consists of.
class Named final : public Interposer {
 public:
  explicit Named(std::string path) : path_(std::move(path)) {}
  void hello(protocol::Hello& hello) override { hello.libraries.push_back(path_); }

 private:
  std::string path_;
};

}  // namespace

Subject user_library(std::string name, const std::string& path) {
  namespace own = libtorch_invariant;
  const std::string key = on_cuda() ? "CUDA" : "CPU";
  const auto before = own::dispatch_rows(key);
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    throw std::runtime_error(std::string("cannot load the library: ") + dlerror());
  }
  const auto changed = own::rows_changed_since(before, key);
  Subject subject{.name = std::move(name),
                  .manifest = stock_manifest_here(),
                  .interposer = std::make_unique<Named>(path),
                  .registered = nullptr,
                  .owns_nothing = path + " registers no op of the suite on " + key};
  for (protocol::ManifestEntry& e : subject.manifest) {
    for (const protocol::ManifestEntry& reached : own::manifest(changed)) {
      if (reached.op == e.op) e.own = reached.own;
    }
    e.stock_reason = e.own.empty() ? "the library registers none of its overloads" : "";
  }
  return subject;
}

}  // namespace bic::libtorch
