#include "adapters/libtorch/placed.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "adapters/protocol/digest.h"
#include "results_schema/error.h"

namespace bic::libtorch {
namespace {

using protocol::ProblemMessage;
using protocol::TensorMessage;
using protocol::TensorPlan;
using protocol::TrialMessage;

at::ScalarType type_of(const std::string& elements) {
  if (elements == "int64") return at::kLong;
  if (elements == "bool") return at::kBool;
  const auto dtype = parse_dtype(elements);
  if (!dtype) throw HarnessError("no tensor has elements '" + elements + "'");
  return scalar_type(*dtype);
}

at::Tensor allocate(const TensorPlan& plan, const TensorMessage& t) {
  return at::empty({plan.storage_elements}, at::TensorOptions().dtype(type_of(t.elements)))
      .as_strided(plan.shape, plan.strides, plan.offset);
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return at::kFloat;
    case DType::kBFloat16:
      return at::kBFloat16;
    case DType::kFloat16:
      return at::kHalf;
    case DType::kFloat64:
      return at::kDouble;
  }
  throw HarnessError("scalar_type: no such dtype");
}

std::string dtype_name(at::ScalarType type) {
  for (DType dtype : kAllDTypes) {
    if (scalar_type(dtype) == type) return std::string(name(dtype));
  }
  std::string text = c10::toString(type);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

Placed Placed::input(const ProblemMessage& problem,
                     const TensorMessage& t,
                     const TrialMessage& trial,
                     std::span<const std::byte> pool) {
  Placed placed;
  placed.name_ = t.name;
  placed.plan_ = plan_tensor(problem, t, trial);
  placed.tensor_ = allocate(placed.plan_, t);
  auto* const first = static_cast<std::byte*>(placed.tensor_.data_ptr());
  gather(problem, t, trial, pool, placed.plan_, first);
  return placed;
}

Placed Placed::output(const ProblemMessage& problem, const TrialMessage& trial) {
  Placed placed;
  placed.name_ = problem.output.name;
  placed.plan_ = plan_tensor(problem, problem.output, trial);
  placed.tensor_ = allocate(placed.plan_, problem.output);
  return placed;
}

std::span<const std::byte> Placed::block() const {
  const c10::Storage& storage = tensor_.storage();
  return {static_cast<const std::byte*>(storage.data()), storage.nbytes()};
}

std::uint64_t Placed::digest(std::uint64_t seed) const { return protocol::digest(block(), seed); }

void Placed::remember() {
  if (before_.empty()) before_.assign(block().begin(), block().end());
}

bool Placed::changed() const {
  return block().size() != before_.size() ||
         std::memcmp(before_.data(), block().data(), before_.size()) != 0;
}

bool Placed::changed_between_elements() const {
  return protocol::changed_between_elements(plan_, tensor_.element_size(), before_, block());
}

}  // namespace bic::libtorch
