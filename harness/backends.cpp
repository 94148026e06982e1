#include "harness/backends.h"

#include <fmt/format.h>

#include "adapters/faults/catalog.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

constexpr const char* kLibrary = "libbic_libtorch.so";

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
      {"libtorch-invariant", "ATen with the bundled batch-invariant kernels registered"}};
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
  if (std::find(known.begin(), known.end(), backend) == known.end()) {
    throw UsageError(fmt::format("--backend: unknown backend '{}'{} (known: {})", backend,
                                 did_you_mean(backend, known), backend_names()));
  }
  WorkerLaunch launch{.library = library_beside(program), .backend = backend};
  if (!std::filesystem::exists(launch.library)) {
    throw UsageError(fmt::format("--backend: '{}' needs {}, which this build has not got; build with "
                                 "-DBIC_LIBTORCH=ON", backend, kLibrary));
  }
  return launch;
}

}  // namespace bic
