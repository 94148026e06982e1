#include "harness/workers/backends.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/faults/catalog.h"
#include "adapters/faults/model_catalog.h"
#include "harness/workers/python_launch.h"
#include "harness/workers/torch_found.h"
#include "harness/workers/torch_launch.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

constexpr std::string_view kBundled = "libtorch-invariant";
constexpr const char* kLibrary = "libbic_libtorch.so";
constexpr const char* kCudaLibrary = "libbic_cuda.so";
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

/// A CUDA device is for those that have kernels there.
void require_kernels(const std::string& backend,
                     const std::string& program,
                     const BackendHost& host) {
  require_device(host.device);
  if (!is_cuda(host.device)) return;
  if (backend == kBundled && !std::filesystem::exists(library_beside(program, kCudaLibrary))) {
    throw UsageError(
        fmt::format("--device: '{}' has no kernels for '{}' in this build: build with nvcc "
                    "(docs/cuda.md)",
                    backend,
                    host.device));
  }
  if (takes_device(backend) && !host.lift) return;
  throw UsageError(
      fmt::format("--device: '{}' runs on the CPU only: libtorch, libtorch-invariant, "
                  "libtorch:PATH.so and python: can use '{}'",
                  backend,
                  host.device));
}

void require_built(const std::string& backend, const std::filesystem::path& library) {
  const std::string file = library.filename();
  std::string problem;
  if (file == kLibrary) {
    problem = torch_problem(library);
  } else if (!std::filesystem::exists(library)) {
    problem = fmt::format("needs {}, which this build has not got", file);
  }
  if (!problem.empty()) throw UsageError(fmt::format("--backend: '{}' {}", backend, problem));
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
  return torch_problem(library_beside(program, kLibrary)).empty();
}

bool takes_device(const std::string& backend) {
  return backend == "libtorch" || backend == kBundled || backend.starts_with("libtorch:") ||
         backend.starts_with("python:");
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
  require_kernels(backend, program, host);
  if (const ExternalBackend* const external = external_backend(backend)) {
    const std::string missing = missing_text(*external);
    if (!missing.empty()) throw UsageError(fmt::format("--backend: '{}' is {}", backend, missing));
    const auto worker = library_beside(program, host.lift ? kLibrary : kPluginLibrary);
    require_built(backend, worker);
    WorkerLaunch launch{.library = worker, .backend = backend};
    if (host.lift) place_torch_worker(launch, host.device);
    return launch;
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
  if (library == kLibrary) place_torch_worker(launch, host.device);
  return launch;
}

}  // namespace bic
