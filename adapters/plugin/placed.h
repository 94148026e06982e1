#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adapters/plugin/bi_conform_plugin.h"
#include "adapters/protocol/gather.h"

namespace bic::plugin {

/// A tensor of a trial in a block of its own, which is aligned to 64 bytes, began as poison and
/// stands between guards; and what its bytes were.
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
  const protocol::TensorPlan& plan() const { return plan_; }
  std::span<const std::byte> block() const { return {block_, bytes_}; }
  const std::byte* first() const { return block_ + plan_.offset * element_size(); }
  std::int64_t element_size() const { return protocol::element_size(elements_); }

  /// It as a plug-in sees it: refers to this one, and its shape may be changed through it.
  bic_tensor view();

  /// Keeps a copy of the whole block, gaps included, for the two questions below; once.
  void remember();
  /// Some byte of the block changed since.
  bool changed() const;
  /// Some byte of the block that belongs to no element changed since.
  bool changed_between_elements() const;
  bool guards_hold() const;

 private:
  Placed(const protocol::TensorMessage& t, protocol::TensorPlan plan);

  std::string name_, elements_;
  protocol::TensorPlan plan_;
  std::vector<std::int64_t> viewed_shape_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;  ///< the block and its guards
  std::byte* block_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<std::byte> before_;
};

}  // namespace bic::plugin
