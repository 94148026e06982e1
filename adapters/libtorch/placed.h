#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adapters/protocol/gather.h"

namespace bic::libtorch {

/// A tensor of a trial in its own block on the device, laid out as the trial says, and what its
/// bytes were.
class Placed {
 public:
  /// Input `t`, gathered from the pool.
  static Placed input(const protocol::ProblemMessage& problem,
                      const protocol::TensorMessage& t,
                      const protocol::TrialMessage& trial,
                      std::span<const std::byte> pool);
  /// Room for the output, all poison.
  static Placed output(const protocol::ProblemMessage& problem,
                       const protocol::TrialMessage& trial);

  const std::string& name() const { return name_; }
  const at::Tensor& tensor() const { return tensor_; }
  const protocol::TensorPlan& plan() const { return plan_; }

  /// Of all bytes of the block, gaps included.
  std::uint64_t digest(std::uint64_t seed) const;

  /// Keeps a copy of the whole block, gaps included, for the questions below; once.
  void remember();
  /// Some byte of the block changed since.
  bool changed() const;
  /// Some byte of the block that belongs to no element changed since.
  bool changed_between_elements() const;
  /// Nothing was written beside the block, on a device; in the host's memory the allocator sees it.
  bool guards_hold() const;

 private:
  void move_to_device();
  std::span<const std::byte> host_block() const;
  std::vector<std::byte> copied_block(const at::Tensor& guarded) const;

  std::string name_;
  protocol::TensorPlan plan_;
  at::Tensor tensor_;
  std::vector<std::byte> before_;
  const at::Tensor& guarded_now() const;
  const at::Tensor& guarded_then() const;

  /// Bytes of the block between its guards; undefined in the host's memory. What they were: of a
  /// small block as it was copied there, and for a trial as it is copied back when first asked; of
  /// a large one on the device.
  at::Tensor guarded_, guarded_before_, uploaded_;
  mutable at::Tensor copied_back_;
};

/// ATen's type of a dtype.
at::ScalarType scalar_type(DType dtype);

/// The project's name of a type ("bf16"), or ATen's in lower case ("long" and the like).
std::string dtype_name(at::ScalarType type);

}  // namespace bic::libtorch
