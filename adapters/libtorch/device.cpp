#include "adapters/libtorch/device.h"

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "adapters/protocol/guarded.h"

// No header of CUDA and nothing of it linked: what ATen does not say is asked of the C functions of
// the libraries that it brought.

namespace bic::libtorch {
namespace {

at::Device chosen_device{at::kCPU};
void* cuda_library = nullptr;    ///< libtorch_cuda.so and what it needs
void* driver_library = nullptr;  ///< libcuda.so.1

std::string one_line(const std::string& text) { return text.substr(0, text.find('\n')); }

[[noreturn]] void cannot_use(const std::string& device, const std::string& why) {
  throw std::runtime_error(fmt::format("cannot use the device '{}': {}", device, one_line(why)));
}

/// Opens libtorch_cuda.so where this process's libtorch_cpu.so lies.
void load_cuda(const std::string& device) {
  Dl_info torch{};
  dladdr(reinterpret_cast<const void*>(&at::show_config), &torch);
  const auto path = std::filesystem::path(torch.dli_fname).replace_filename("libtorch_cuda.so");
  // Its symbols are for those alone that ask for it, as in Python: libraries that it opens later
  // have C++ symbols of their own.
  cuda_library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (cuda_library == nullptr) {
    cannot_use(
        device,
        fmt::format("{}; BIC_TORCH names the folder of a torch package with CUDA", dlerror()));
  }
  driver_library = dlopen("libcuda.so.1", RTLD_NOW);
}

template <class Function>
Function* symbol(void* library, const char* name) {
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  return reinterpret_cast<Function*>(found);
}

/// "13.0" of 13000, as CUDA's own libraries count.
std::string dotted(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// A version that a function of the library writes to its argument; "unknown" where it has none.
std::string version_by(void* library, const char* name) {
  int version = 0;
  auto* const ask = symbol<int(int*)>(library, name);
  return ask != nullptr && ask(&version) == 0 ? dotted(version) : "unknown";
}

std::string counted_version(const char* name) {
  auto* const ask = symbol<std::size_t()>(cuda_library, name);
  return ask == nullptr ? "unknown" : std::to_string(ask());
}

std::string cublas_version() {
  auto* const ask = symbol<int(int, int*)>(cuda_library, "cublasGetProperty");
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) {
    if (ask == nullptr || ask(i, &parts[i]) != 0) return "unknown";
  }
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

int driver_handle() {
  int handle = 0;
  auto* const get = symbol<int(int*, int)>(driver_library, "cuDeviceGet");
  return get != nullptr && get(&handle, chosen_device.index()) == 0 ? handle : -1;
}

/// An attribute by its number in cuda.h.
int attribute(int number) {
  int value = 0;
  auto* const get = symbol<int(int*, int, int)>(driver_library, "cuDeviceGetAttribute");
  return get != nullptr && get(&value, number, driver_handle()) == 0 ? value : 0;
}

std::string model_name() {
  std::array<char, 256> name{};
  auto* const get = symbol<int(char*, int, int)>(driver_library, "cuDeviceGetName");
  const bool known = get != nullptr && get(name.data(), name.size() - 1, driver_handle()) == 0;
  return known ? name.data() : "unknown";
}

std::string first_line_of(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line.empty() ? "unknown" : line;
}

std::string yes(bool on) { return on ? "true" : "false"; }

/// An integer type of the element's size, whose copies change no bit.
at::Tensor bits_of(const at::Tensor& t) {
  switch (t.element_size()) {
    case 1:
      return t.view(at::kByte);
    case 2:
      return t.view(at::kShort);
    case 4:
      return t.view(at::kInt);
    case 8:
      return t.view(at::kLong);
    default:
      return t;
  }
}

}  // namespace

void use_device(const std::string& text) {
  if (text == "cpu") return;
  load_cuda(text);
  if (!at::hasCUDA()) cannot_use(text, "there is no CUDA device, or no driver for it");
  try {
    const at::Device wanted(text);
    chosen_device = at::Device(at::kCUDA, wanted.has_index() ? wanted.index() : 0);
    c10::impl::VirtualGuardImpl(at::kCUDA).setDevice(chosen_device);
    at::empty({1}, at::TensorOptions().device(chosen_device));  // makes the context
    synchronize();
  } catch (const std::exception& e) {
    cannot_use(text, e.what());
  }
}

at::Device device() { return chosen_device; }

bool on_cuda() { return chosen_device.is_cuda(); }

std::string device_name() {
  return on_cuda() ? chosen_device.str() + ' ' + model_name() : chosen_device.str();
}

std::map<std::string, std::string> device_facts() {
  if (!on_cuda()) return {};
  constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_…
  const at::Context& context = at::globalContext();
  const auto split = [](at::CuBLASReductionOption o) {
    return yes(o == at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK);
  };
  return {{"device_name", model_name()},
          {"compute_capability", fmt::format("{}.{}", attribute(kMajor), attribute(kMinor))},
          {"multiprocessors", std::to_string(attribute(kMultiprocessors))},
          {"nvidia_driver", first_line_of("/sys/module/nvidia/version")},
          {"cuda_driver", version_by(driver_library, "cuDriverGetVersion")},
          {"cuda_runtime", version_by(cuda_library, "cudaRuntimeGetVersion")},
          {"cublas", cublas_version()},
          {"cublaslt", counted_version("cublasLtGetVersion")},
          {"cudnn", counted_version("cudnnGetVersion")},
          {"matmul_tf32", yes(context.allowTF32CuBLAS())},
          {"cudnn_tf32", yes(context.allowTF32CuDNN())},
          {"fp16_split_reduction", split(context.allowFP16ReductionCuBLAS())},
          {"bf16_split_reduction", split(context.allowBF16ReductionCuBLAS())},
          {"cudnn_benchmark", yes(context.benchmarkCuDNN())},
          {"cudnn_deterministic", yes(context.deterministicCuDNN())},
          {"sdp_flash", yes(context.userEnabledFlashSDP())},
          {"sdp_mem_efficient", yes(context.userEnabledMemEfficientSDP())},
          {"sdp_cudnn", yes(context.userEnabledCuDNNSDP())}};
}

void synchronize() {
  if (on_cuda()) c10::impl::VirtualGuardImpl(at::kCUDA).synchronizeDevice(chosen_device.index());
}

void end_if_lost(const char* why) {
  try {
    synchronize();
  } catch (const std::exception&) {
    std::fprintf(stderr, "the device is lost: %s\n", one_line(why).c_str());
    std::fflush(stderr);
    std::_Exit(1);  // destructors would call the device
  }
}

void poison_next(std::size_t bytes) {
  if (!on_cuda() || bytes == 0) return;
  const auto size = static_cast<std::int64_t>(bytes);
  at::empty({size}, at::TensorOptions(chosen_device).dtype(at::kByte))
      .fill_(std::to_integer<int>(protocol::kPoison));
}

at::Tensor on_host(const at::Tensor& t) {
  if (t.device().is_cpu()) return t;
  return bits_of(t).to(at::kCPU);
}

}  // namespace bic::libtorch
