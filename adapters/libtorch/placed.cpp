#include "adapters/libtorch/placed.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "adapters/libtorch/device.h"
#include "adapters/protocol/digest.h"
#include "adapters/protocol/guarded.h"
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

/// In the host's memory.
at::Tensor allocate(const TensorPlan& plan, const TensorMessage& t) {
  return at::empty({plan.storage_elements}, at::TensorOptions().dtype(type_of(t.elements)))
      .as_strided(plan.shape, plan.strides, plan.offset);
}

/// Blocks up to this size are compared in the host's memory: one copy instead of a kernel and a
/// wait for each question.
constexpr std::int64_t kMostCopiedBack = 4 << 20;

constexpr auto kGuard = static_cast<std::int64_t>(protocol::kGuardBytes);

at::Tensor inside(const at::Tensor& guarded) {
  return guarded.slice(0, kGuard, guarded.numel() - kGuard);
}

bool same_guards(const at::Tensor& a, const at::Tensor& b) {
  const std::int64_t end = a.numel() - kGuard;
  return at::equal(a.slice(0, 0, kGuard), b.slice(0, 0, kGuard)) &&
         at::equal(a.slice(0, end), b.slice(0, end));
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
  placed.move_to_device();
  return placed;
}

Placed Placed::output(const ProblemMessage& problem, const TrialMessage& trial) {
  Placed placed;
  placed.name_ = problem.output.name;
  placed.plan_ = plan_tensor(problem, problem.output, trial);
  placed.tensor_ = allocate(placed.plan_, problem.output);
  placed.move_to_device();
  return placed;
}

/// Its bytes go as they are; its address is aligned as the host's, because the device's allocator
/// aligns to more than the guard takes.
void Placed::move_to_device() {
  if (!on_cuda()) return;
  const std::span<const std::byte> block = host_block();
  const auto size = static_cast<std::int64_t>(block.size());
  at::Tensor guarded = at::empty({size + 2 * kGuard}, at::TensorOptions().dtype(at::kByte));
  std::byte* const first = static_cast<std::byte*>(guarded.data_ptr()) + kGuard;
  protocol::poison_and_guard(first, block.size());
  std::memcpy(first, block.data(), block.size());
  guarded_ = guarded.to(device());
  if (guarded.numel() <= kMostCopiedBack) uploaded_ = guarded;
  const std::int64_t offset = kGuard / tensor_.element_size() + plan_.offset;
  tensor_ =
      inside(guarded_).view(tensor_.scalar_type()).as_strided(plan_.shape, plan_.strides, offset);
}

std::span<const std::byte> Placed::host_block() const {
  const c10::Storage& storage = tensor_.storage();
  return {static_cast<const std::byte*>(storage.data()), storage.nbytes()};
}

std::vector<std::byte> Placed::copied_block(const at::Tensor& guarded) const {
  const at::Tensor here = on_host(inside(guarded));
  const auto* const first = static_cast<const std::byte*>(here.const_data_ptr());
  return {first, first + here.nbytes()};
}

std::uint64_t Placed::digest(std::uint64_t seed) const {
  if (!guarded_.defined()) return protocol::digest(host_block(), seed);
  // What was copied to the device is what `changed` compares it with.
  return protocol::digest(copied_block(uploaded_.defined() ? uploaded_ : guarded_), seed);
}

const at::Tensor& Placed::guarded_now() const {
  if (!uploaded_.defined()) return guarded_;
  if (!copied_back_.defined()) copied_back_ = on_host(guarded_);
  return copied_back_;
}

const at::Tensor& Placed::guarded_then() const {
  return uploaded_.defined() ? uploaded_ : guarded_before_;
}

void Placed::remember() {
  copied_back_.reset();
  if (guarded_.defined()) {
    if (!uploaded_.defined() && !guarded_before_.defined()) guarded_before_ = guarded_.clone();
  } else if (before_.empty()) {
    before_.assign(host_block().begin(), host_block().end());
  }
}

bool Placed::changed() const {
  if (guarded_.defined()) return !at::equal(inside(guarded_now()), inside(guarded_then()));
  return host_block().size() != before_.size() ||
         std::memcmp(before_.data(), host_block().data(), before_.size()) != 0;
}

bool Placed::changed_between_elements() const {
  const std::int64_t size = tensor_.element_size();
  if (!guarded_.defined()) {
    return protocol::changed_between_elements(plan_, size, before_, host_block());
  }
  return protocol::changed_between_elements(
      plan_, size, copied_block(guarded_then()), copied_block(guarded_now()));
}

bool Placed::guards_hold() const {
  return !guarded_.defined() || same_guards(guarded_now(), guarded_then());
}

}  // namespace bic::libtorch
