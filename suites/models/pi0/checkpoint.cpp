#include "suites/models/pi0/checkpoint.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <cstring>
#include <map>

#include "suites/models/pi0/parameters.h"

namespace bic::pi0 {
namespace {

/// `checkpoint_contents` lets no other pass.
at::ScalarType scalar_type(std::string_view dtype) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "BF16") return at::kBFloat16;
  return dtype == "F16" ? at::kHalf : at::kDouble;
}

/// A tensor of the file's bytes, which stay mapped as long as it lives. Bytes that do not lie where
/// the processor wants them are copied.
at::Tensor mapped(const safetensors::Stored& stored) {
  const auto bytes = stored.bytes();
  const at::ScalarType dtype = scalar_type(stored.entry.dtype);
  const at::TensorOptions options = at::TensorOptions().dtype(dtype);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % c10::elementSize(dtype) != 0) {
    at::Tensor copy = at::empty(stored.entry.shape, options);
    std::memcpy(copy.data_ptr(), bytes.data(), bytes.size());
    return copy;
  }
  auto* data = const_cast<std::byte*>(bytes.data());  // nobody writes to a weight
  return at::from_blob(
      data, stored.entry.shape, [file = stored.file](void*) {}, options);
}

}  // namespace

Loaded load_weights(const Config& config, at::ScalarType dtype, const std::filesystem::path& path) {
  const CheckpointContents contents = checkpoint_contents(config, path);
  Loaded loaded;
  std::map<std::string, int> conversions;
  for (const Parameter& p : parameters(config)) {
    const safetensors::Stored& stored = contents.tensors.at(p.name);
    const at::Tensor tensor = mapped(stored);
    const at::ScalarType wanted = stored_dtype(config, p, dtype);
    loaded.weights[p.name] = as(tensor, wanted);
    if (tensor.scalar_type() == wanted) continue;
    const bool exact = c10::promoteTypes(tensor.scalar_type(), wanted) == wanted;
    ++conversions[fmt::format(
        "{} {} to {}", stored.entry.dtype, exact ? "widened" : "rounded", c10::toString(wanted))];
  }
  for (const auto& [what, count] : conversions) {
    loaded.notes.push_back(fmt::format("{} tensors: {}", count, what));
  }
  for (const std::string& name : contents.unread) loaded.notes.push_back("not read: " + name);
  return loaded;
}

}  // namespace bic::pi0
