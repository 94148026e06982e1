#include "harness/backends.h"

#include <fmt/format.h>

#include "adapters/faults/catalog.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

constexpr const char* kLibrary = "libbic_libtorch.so";
constexpr const char* kUserLibrary = "libtorch:PATH.so";

/// `libtorch:PATH` with the path made absolute, for a worker that may run elsewhere.
std::string resolve_user_library(const std::string& backend) {
  const std::string prefix = "libtorch:";
  const std::filesystem::path path = backend.substr(prefix.size());
  std::error_code missing;
  const auto real = std::filesystem::canonical(path, missing);
  if (missing || !std::filesystem::is_regular_file(real)) {
    throw UsageError(
        fmt::format("--backend: '{}': there is no such file; name a shared library that "
                    "registers kernels with PyTorch",
                    path.string()));
  }
  return prefix + real.string();
}

/// The library in the build tree (bin/../lib), with the paths resolved.
std::filesystem::path library_beside(const std::string& program) {
  std::error_code ignored;
  const auto real = std::filesystem::canonical(program, ignored);
  return real.parent_path().parent_path() / "lib" / kLibrary;
}

}  // namespace

std::vector<KnownBackend> known_backends() {
  std::vector<KnownBackend> all{
      {"libtorch", "stock ATen, nothing registered: it fails, and the report says where"},
      {"libtorch-invariant", "ATen with the bundled batch-invariant kernels registered"},
      {kUserLibrary, "ATen with the kernels that your shared library registers on loading"}};
  for (const faults::Fault& f : faults::catalog()) {
    all.push_back({"fault:" + std::string(f.name), std::string(f.sentence)});
  }
  return all;
}

std::string backend_names() {
  std::string names;
  for (const KnownBackend& b : known_backends()) {
    if (b.name.starts_with("fault:")) continue;
    names += (names.empty() ? "" : ", ") + b.name;
  }
  return names + ", fault:NAME";
}

WorkerLaunch launch_of(const std::string& backend, const std::string& program) {
  std::vector<std::string> known;
  for (const KnownBackend& b : known_backends()) known.push_back(b.name);
  const bool user_library = backend.starts_with("libtorch:");
  if (!user_library && std::find(known.begin(), known.end(), backend) == known.end()) {
    throw UsageError(fmt::format("--backend: unknown backend '{}'{} (known: {})",
                                 backend,
                                 did_you_mean(backend, known),
                                 backend_names()));
  }
  WorkerLaunch launch{.library = library_beside(program),
                      .backend = user_library ? resolve_user_library(backend) : backend};
  if (!std::filesystem::exists(launch.library)) {
    throw UsageError(
        fmt::format("--backend: '{}' needs {}, which this build has not got; build with "
                    "-DBIC_LIBTORCH=ON",
                    backend,
                    kLibrary));
  }
  return launch;
}

}  // namespace bic
