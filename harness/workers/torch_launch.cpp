#include "harness/workers/torch_launch.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "harness/workers/team_witness.h"
#include "harness/workers/torch_found.h"

namespace bic {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "BIC_TORCH";
constexpr const char* kNote = "libbic_models.torch";  // beside the worker's library

/// The value in quotes of the line `name = '…'` of a package's version.py; "" where there is none.
std::string value_of(const fs::path& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name + ' ') && !line.starts_with(name + ':')) continue;
    const std::size_t from = line.find('\''), to = line.rfind('\'');
    if (from != std::string::npos && from < to) return line.substr(from + 1, to - from - 1);
  }
  return "";
}

std::string version_of(const fs::path& package) {
  const fs::path file = package / "version.py";
  return value_of(file, "__version__") + ' ' + value_of(file, "git_version");
}

std::string first_line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

void require_file(const fs::path& package, const fs::path& file) {
  if (fs::is_regular_file(package / file)) return;
  throw UsageError(fmt::format("{}: '{}' has no {}; name the folder of an installed torch package",
                               kVariable,
                               package.string(),
                               file.string()));
}

/// The package that the environment names; "" where it names none.
fs::path named_package(const fs::path& library, bool with_cuda) {
  const fs::path named = named_torch();
  if (named.empty()) return "";
  std::error_code missing;
  const fs::path real = fs::canonical(named, missing);
  const fs::path package = missing ? named : real;
  require_file(package, "lib/libtorch_cpu.so");
  if (with_cuda) require_file(package, "lib/libtorch_cuda.so");
  const std::string built = first_line_of(library.parent_path() / kNote);
  const std::string there = version_of(package);
  if (there == built) return package;
  throw UsageError(fmt::format("{}: '{}' is torch {}; this build is for torch {}",
                               kVariable,
                               package.string(),
                               there,
                               built));
}

int say(const char* what) {
  std::fprintf(stderr, "cannot load %s: %s\n", what, dlerror());
  return 2;
}

/// Type of bic_worker_main_on, which LibTorch's worker library exports beside bic_worker_main.
using WorkerMainOn = int (*)(int socket,
                             const char* backend,
                             unsigned (*largest_team)(int reset),
                             const char* device);

}  // namespace

void require_device(const std::string& device) {
  constexpr std::string_view kPrefix = "cuda:";
  if (device.empty() || device == "cpu" || device == "cuda") return;
  const std::string index = device.starts_with(kPrefix) ? device.substr(kPrefix.size()) : "";
  const bool number = index.find_first_not_of("0123456789") == std::string::npos;
  if (!index.empty() && index.size() <= 3 && number) return;
  throw UsageError(fmt::format("--device: '{}' is none of cpu, cuda, cuda:INDEX", device));
}

bool is_cuda(const std::string& device) { return device.starts_with("cuda"); }

void place_torch_worker(WorkerLaunch& launch, const std::string& device) {
  fs::path package;
  try {
    package = named_package(launch.library, is_cuda(device));
  } catch (const UsageError& e) {
    launch.problem = e.what();
    return;
  }
  if (package.empty() && !is_cuda(device)) return;
  launch.arguments = {"bi-conform",
                      "worker",
                      launch.library.string(),
                      launch.backend,
                      device.empty() ? "cpu" : device,
                      package.string()};
}

int torch_worker_main(const fs::path& library,
                      const std::string& backend,
                      const TorchPlace& place,
                      int socket) {
  // What is in the process already, by its name, is what the worker's library gets.
  const std::string torch = (place.package / "lib" / "libtorch_cpu.so").string();
  if (!place.package.empty() && dlopen(torch.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return say("torch");
  }
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const entry = handle == nullptr ? nullptr : dlsym(handle, "bic_worker_main_on");
  if (entry == nullptr) return say("the worker library");
  return reinterpret_cast<WorkerMainOn>(entry)(
      socket, backend.c_str(), &largest_team, place.device.c_str());
}

}  // namespace bic
