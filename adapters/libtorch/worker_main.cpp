#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#ifdef BIC_FAULTS
#include "adapters/faults/model_faults.h"
#endif
#include "adapters/libtorch/backend.h"
#include "adapters/libtorch/device.h"
#include "adapters/libtorch/device_kernels.h"
#include "adapters/libtorch/hello.h"
#include "adapters/libtorch/lifted.h"
#include "adapters/libtorch/pi0_ops.h"
#include "adapters/libtorch/stock_arithmetic.h"
#include "adapters/libtorch/stock_cuda_arithmetic.h"
#include "adapters/libtorch/studies.h"
#include "adapters/libtorch/user_library.h"
#include "adapters/libtorch_invariant/registration.h"
#include "adapters/plugin/library.h"

namespace bic::libtorch {
namespace {

constexpr int kUnknownBackend = 2;

Subject invariant(std::string name) {
  if (on_cuda()) {
    DeviceKernels kernels = cuda_kernels();
    return {std::move(name),
            completed(std::move(kernels.manifest)),
            nullptr,
            std::move(kernels.registered)};
  }
  auto registration = std::make_shared<libtorch_invariant::Registration>();
  return {std::move(name),
          completed(libtorch_invariant::manifest(registration->changed())),
          nullptr,
          registration};
}

#ifdef BIC_FAULTS
/// The backend with that fault, in an op or inside whole models, or nothing.
std::optional<Subject> broken(const std::string& name, std::string_view fault) {
  Subject subject = invariant(name);
  subject.interposer = make_fault(fault);
  if (subject.interposer != nullptr) return subject;
  auto planted = faults::plant_in_models(fault);
  if (planted == nullptr) return std::nullopt;
  // Its second goes first, before what it is planted over.
  using Both = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
  subject.registered = std::make_shared<Both>(std::move(subject.registered), std::move(planted));
  return subject;
}
#endif

/// The backend of that name, or nothing.
std::optional<Subject> subject(const std::string& name) {
  if (name == "libtorch") return Subject{name, stock_manifest_here(), nullptr, nullptr};
  if (name == "libtorch-invariant") return invariant(name);
  if (constexpr std::string_view prefix = "libtorch:"; name.starts_with(prefix)) {
    return user_library(name, name.substr(prefix.size()));
  }
  // A plug-in that this worker is asked for is lifted; by itself it has another worker.
  if (name.starts_with("plugin:") || std::filesystem::exists(plugin::plugin_path(name))) {
    return lifted(name, plugin::plugin_path(name));
  }
#ifdef BIC_FAULTS
  if (constexpr std::string_view prefix = "fault:"; name.starts_with(prefix)) {
    return broken(name, std::string_view(name).substr(prefix.size()));
  }
#endif
  return std::nullopt;
}

int run_worker(int socket,
               const std::string& name,
               LargestTeam largest_team,
               const std::string& device) {
  forbid_dynamic_threads();
  use_device(device);
  const Pi0Operators operators;
  std::optional<Subject> made = subject(name);
  if (!made) {
    std::fprintf(
        stderr,
        "libbic_libtorch: no backend '%s'; it has libtorch, libtorch-invariant, libtorch:PATH.so, "
        "fault:NAME\n",
        name.c_str());
    return kUnknownBackend;
  }
  made->studies = studies();
  LibTorchBackend backend(std::move(*made), largest_team);
  return protocol::serve(socket, backend);
}

}  // namespace
}  // namespace bic::libtorch

/// Serves `backend` on `socket` until the other side closes it and returns the worker's exit code;
/// 2 for an unknown backend, 4 when the worker itself failed. `largest_team(1)` resets and
/// `largest_team(0)` returns the largest OpenMP team asked for; may be null. Tensors lie on
/// `device`: "cpu", "cuda" or "cuda:INDEX".
extern "C" __attribute__((visibility("default"))) int bic_worker_main_on(
    int socket, const char* backend, unsigned (*largest_team)(int reset), const char* device) {
  try {
    return bic::libtorch::run_worker(socket, backend, largest_team, device);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "libbic_libtorch: %s\n", e.what());
    return 4;
  }
}

/// The same on the CPU: the entry that every worker library has.
extern "C" __attribute__((visibility("default"))) int bic_worker_main(
    int socket, const char* backend, unsigned (*largest_team)(int reset)) {
  return bic_worker_main_on(socket, backend, largest_team, "cpu");
}
