#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <string>

namespace bic::libtorch {

/// Makes `text` ("cpu", "cuda", "cuda:1") the device on which tensors of this process lie. For a
/// CUDA one it loads torch's CUDA libraries, from beside the others of torch, so call it before
/// anything asks ATen for CUDA. Throws std::runtime_error, in one line.
void use_device(const std::string& text);

/// The CPU until `use_device`.
at::Device device();
bool on_cuda();

/// "cpu", or as in "cuda:0 NVIDIA H200".
std::string device_name();

/// Versions and settings of a CUDA device that can change a bit; nothing on the CPU.
std::map<std::string, std::string> device_facts();

/// Waits for the device: an error of a kernel is thrown here, not at some later call.
void synchronize();

/// Ends the process where the device answers nothing any more, as after an illegal access: the next
/// problem needs a new one. `why` is what was thrown.
void end_if_lost(const char* why);

/// What the caching allocator gives next for so many bytes is poison, as far as it has it. On the
/// CPU every block is (poison.h).
void poison_next(std::size_t bytes);

/// The same bits in the host's memory: `t` itself where it is there.
at::Tensor on_host(const at::Tensor& t);

}  // namespace bic::libtorch
