#include "adapters/libtorch/output.h"

#include <stdexcept>

#include "adapters/libtorch/device.h"
#include "adapters/protocol/gather.h"
#include "results_schema/shape.h"

namespace bic::libtorch {

void check_output(const at::Tensor& y) {
  if (!y.defined()) throw std::runtime_error("the call returned no tensor");
  if (y.layout() != at::kStrided || y.device() != device()) {
    throw std::runtime_error("the output is no strided tensor on " + device().str());
  }
}

std::span<std::byte> copy_elements(const at::Tensor& y, std::span<std::byte> output) {
  const auto bytes = static_cast<std::size_t>(y.numel() * y.element_size());
  if (bytes > output.size()) return {};
  const at::Tensor here = on_host(y);
  protocol::copy_out(here.sizes(),
                     here.strides(),
                     here.element_size(),
                     static_cast<const std::byte*>(here.const_data_ptr()),
                     output.data());
  return output.first(bytes);
}

std::size_t output_bytes(const protocol::ProblemMessage& problem,
                         const protocol::TrialMessage& trial) {
  const auto shape = protocol::plan_tensor(problem, problem.output, trial).shape;
  return static_cast<std::size_t>(element_count(shape) *
                                  protocol::element_size(problem.output.elements));
}

bool is_given(const at::Tensor& y, const at::Tensor& given) {
  return y.is_alias_of(given) && y.const_data_ptr() == given.const_data_ptr() &&
         y.sizes() == given.sizes() && y.strides() == given.strides();
}

}  // namespace bic::libtorch
