#include "adapters/libtorch/hello.h"

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <omp.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "adapters/protocol/usable_cores.h"

namespace bic::libtorch {
namespace {

/// The value of `KEY=value,` in the build settings that ATen prints; empty when it is not there.
std::string build_setting(const std::string& config, const std::string& key) {
  const std::size_t at = config.find(key + "=");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size() + 1;
  return config.substr(begin, config.find_first_of(", \n", begin) - begin);
}

/// Environment variables that pick a code path or a number of threads in torch, MKL or oneDNN.
constexpr std::array kVariables{"ATEN_CPU_CAPABILITY",
                                "CUBLASLT_WORKSPACE_SIZE",
                                "CUBLAS_WORKSPACE_CONFIG",
                                "DNNL_DEFAULT_FPMATH_MODE",
                                "DNNL_MAX_CPU_ISA",
                                "GOMP_CPU_AFFINITY",
                                "MKL_CBWR",
                                "MKL_DYNAMIC",
                                "MKL_ENABLE_INSTRUCTIONS",
                                "MKL_NUM_THREADS",
                                "NVIDIA_TF32_OVERRIDE",
                                "OMP_DYNAMIC",
                                "OMP_NUM_THREADS",
                                "OMP_THREAD_LIMIT",
                                "ONEDNN_DEFAULT_FPMATH_MODE",
                                "ONEDNN_MAX_CPU_ISA",
                                "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"};

}  // namespace

std::map<std::string, std::string> fingerprint() {
  const std::string config = at::show_config();
  const at::Context& context = at::globalContext();
  std::map<std::string, std::string> all{
      {"torch", TORCH_VERSION},
      {"torch_git", build_setting(config, "COMMIT_SHA")},
      {"cpu_capability", at::get_cpu_capability()},
      {"mkl", at::get_mkl_version()},
      {"onednn", at::get_mkldnn_version()},
      {"openmp", at::get_openmp_version()},
      {"threads", std::to_string(usable_cores())},
      {"onednn_enabled", context.userEnabledMkldnn() ? "true" : "false"},
      {"deterministic", context.deterministicAlgorithms() ? "true" : "false"},
      {"fp16_reduction", context.allowFP16ReductionCPU() ? "true" : "false"},
  };
  for (const char* variable : kVariables) {
    if (const char* value = std::getenv(variable)) all.emplace(variable, value);
  }
  return all;
}

std::vector<std::string> mapped_libraries() {
  constexpr std::array<std::string_view, 10> kOurs{"libbic_cuda",
                                                   "libbic_libtorch",
                                                   "libc10",
                                                   "libcublas",
                                                   "libcudart",
                                                   "libcudnn",
                                                   "libgomp",
                                                   "libhwy",
                                                   "libiomp",
                                                   "libtorch"};
  std::vector<std::string> paths;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find('/');
    if (at == std::string::npos) continue;
    const std::string path = line.substr(at);
    const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
    const bool ours = std::any_of(kOurs.begin(), kOurs.end(), [&](std::string_view start) {
      return file.starts_with(start);
    });
    if (ours && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  return paths;
}

void forbid_dynamic_threads() {
  setenv("MKL_DYNAMIC", "false", 0);
  setenv("OMP_DYNAMIC", "false", 0);
  omp_set_dynamic(0);  // OpenMP read its variable when it was loaded
}

}  // namespace bic::libtorch
