#include "suites/models/pi0/trace.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>

#include "results_schema/error.h"

namespace bic::pi0 {
namespace {

/// Never an alias, whatever the device and the strides.
at::Tensor copied_to_host(const at::Tensor& tensor) {
  at::Tensor copy = at::empty(tensor.sizes(), tensor.options().device(at::kCPU));
  copy.copy_(tensor.detach());
  return copy;
}

}  // namespace

void Recorder::record(std::string_view name, const at::Tensor& tensor) {
  if (wanted_ && !wanted_(name)) return;
  const auto before = std::count_if(snapshots_.begin(), snapshots_.end(), [&](const Snapshot& s) {
    return s.section == section_ && s.name == name;
  });
  snapshots_.push_back(
      {section_, std::string(name), static_cast<int>(before), copied_to_host(tensor)});
}

const at::Tensor& Recorder::get(std::string_view section, std::string_view name) const {
  for (const Snapshot& s : snapshots_) {
    if (s.section == section && s.name == name) return s.tensor;
  }
  throw HarnessError(fmt::format("pi0: no tensor '{}' was recorded in '{}'", name, section));
}

}  // namespace bic::pi0
