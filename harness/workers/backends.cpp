#include "harness/workers/backends.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/faults/catalog.h"
#include "adapters/faults/model_catalog.h"
#include "harness/workers/python_launch.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

constexpr const char* kLibrary = "libbic_libtorch.so";
constexpr const char* kPluginLibrary = "libbic_plugin.so";
constexpr const char* kPythonWorker = "bi_conform_worker.pyz";

/// A backend that is a file of the user's: its prefix, the worker library that loads it, what the
/// file is, and one line for the list.
struct FileBackend {
  std::string_view prefix, library, file, sentence;
};
constexpr FileBackend kFileBackends[] = {
    {"libtorch:",
     kLibrary,
     "a shared library that registers kernels with PyTorch",
     "ATen with the kernels that your shared library registers on loading"},
    {"plugin:",
     kPluginLibrary,
     "a shared library that exports bi_conform_plugin",
     "the kernels of your shared library (adapters/plugin/bi_conform_plugin.h)"}};

/// An external library called directly: lib/external/NAME.so, built where the library was found.
struct ExternalBackend {
  std::string_view name, sentence, package;
  bool built;
};
constexpr ExternalBackend kExternalBackends[] = {
    {"openblas",
     "OpenBLAS' gemm, gemv and dot, called directly",
     "libopenblas-openmp-dev",
     BIC_HAS_OPENBLAS},
    {"onednn", "oneDNN's matmul, called directly", "libdnnl-dev", BIC_HAS_ONEDNN}};

const ExternalBackend* external_backend(std::string_view backend) {
  const auto* const at = std::ranges::find(kExternalBackends, backend, &ExternalBackend::name);
  return at == std::end(kExternalBackends) ? nullptr : at;
}

/// Where it is built, nothing; else how to get it.
std::string missing_text(const ExternalBackend& e) {
  if (e.built) return "";
  return fmt::format("not in this build: install {} and configure again", e.package);
}

const FileBackend* file_backend(std::string_view backend) {
  for (const FileBackend& f : kFileBackends) {
    if (backend.starts_with(f.prefix)) return &f;
  }
  return nullptr;
}

/// The name with its path made absolute, for a worker that may run elsewhere.
std::string resolve_file(const std::string& backend, const FileBackend& kind) {
  const std::filesystem::path path = backend.substr(kind.prefix.size());
  std::error_code missing;
  const auto real = std::filesystem::canonical(path, missing);
  if (missing || !std::filesystem::is_regular_file(real)) {
    throw UsageError(
        fmt::format("--backend: '{}': there is no such file; name {}", path.string(), kind.file));
  }
  return std::string(kind.prefix) + real.string();
}

/// A library of the build tree (bin/../lib), with the paths resolved.
std::filesystem::path library_beside(const std::string& program, std::string_view library) {
  std::error_code ignored;
  const auto real = std::filesystem::canonical(program, ignored);
  return real.parent_path().parent_path() / "lib" / library;
}

/// What can be lifted into the LibTorch worker.
void require_plugin(const std::string& backend, bool lift) {
  if (!lift || backend.starts_with("plugin:") || external_backend(backend) != nullptr) return;
  throw UsageError(
      fmt::format("--lift: '{}' is no plug-in; give plugin:PATH.so, openblas or onednn", backend));
}

void require_cpu(const std::string& backend, const std::string& device) {
  if (device.empty() || device == "cpu") return;
  throw UsageError(fmt::format(
      "--device: '{}' runs on the CPU only: of this build, python: backends alone can use '{}'",
      backend,
      device));
}

void require_built(const std::string& backend, const std::filesystem::path& library) {
  if (std::filesystem::exists(library)) return;
  const std::string file = library.filename();
  throw UsageError(fmt::format("--backend: '{}' needs {}, which this build has not got{}",
                               backend,
                               file,
                               file == kLibrary ? "; build with -DBIC_LIBTORCH=ON" : ""));
}

}  // namespace

std::vector<KnownBackend> known_backends() {
  std::vector<KnownBackend> all{
      {"libtorch", "stock ATen, nothing registered: it fails, and the report says where"},
      {"libtorch-invariant", "ATen with the bundled batch-invariant kernels registered"}};
  for (const FileBackend& f : kFileBackends) {
    all.push_back({std::string(f.prefix) + "PATH.so", std::string(f.sentence)});
  }
  for (const ExternalBackend& e : kExternalBackends) {
    const std::string missing = missing_text(e);
    all.push_back({std::string(e.name),
                   std::string(e.sentence) + (missing.empty() ? "" : " (" + missing + ")")});
  }
  all.push_back({"python:MODULE[:CALL]",
                 "a Python module's functions, or the kernels that it registers with its torch"});
  for (const faults::Fault& f : faults::catalog()) {
    all.push_back({"fault:" + std::string(f.name), std::string(f.sentence)});
  }
  for (const faults::ModelFault& f : faults::model_catalog()) {
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

bool has_stock(const std::string& program) {
  return std::filesystem::exists(library_beside(program, kLibrary));
}

WorkerLaunch launch_of(const std::string& backend,
                       const std::string& program,
                       const BackendHost& host) {
  require_plugin(backend, host.lift);
  if (backend.starts_with("python:")) {
    const auto worker = library_beside(program, kPythonWorker);
    require_built(backend, worker);
    return python_launch(backend, host, worker);
  }
  if (!host.python.empty()) throw UsageError("--python is for --backend python:MODULE[:CALL]");
  require_cpu(backend, host.device);
  if (const ExternalBackend* const external = external_backend(backend)) {
    const std::string missing = missing_text(*external);
    if (!missing.empty()) throw UsageError(fmt::format("--backend: '{}' is {}", backend, missing));
    const auto worker = library_beside(program, host.lift ? kLibrary : kPluginLibrary);
    require_built(backend, worker);
    return {.library = worker, .backend = backend};
  }
  std::vector<std::string> known;
  for (const KnownBackend& b : known_backends()) known.push_back(b.name);
  const FileBackend* const file = file_backend(backend);
  if (file == nullptr && std::find(known.begin(), known.end(), backend) == known.end()) {
    throw UsageError(fmt::format("--backend: unknown backend '{}'{} (known: {})",
                                 backend,
                                 did_you_mean(backend, known),
                                 backend_names()));
  }
  const std::string_view library = file == nullptr || host.lift ? kLibrary : file->library;
  WorkerLaunch launch{.library = library_beside(program, library),
                      .backend = file == nullptr ? backend : resolve_file(backend, *file)};
  require_built(backend, launch.library);
  return launch;
}

}  // namespace bic
