#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generators/laws.h"

namespace bic {

/// How the operands of a problem meet: which of their axes walk one shared index k that is summed
/// over. Laws of a problem place their values by k, so that both factors of a product agree.
struct Contraction {
  std::vector<std::vector<int>> along;  ///< by operand: its axes that make up k, row-major
  std::int64_t length = 1;              ///< k < length
  std::int64_t terms = 1;               ///< products that one output adds up; a multiple of length
  int leader = -1;                      ///< the first operand with a reduced axis; -1 without one
};

/// All reduced axes where the operands agree on their number of elements (mm, bmm, sums). Else, as
/// for a convolution, whose input reduces channels and whose weight channels and taps, the first.
Contraction contraction_of(std::span<const OperandShape> operands);

/// Splits row-major element indices of a block into k (over the axes `along`) and the place over
/// the other axes.
class Walk {
 public:
  /// The place over the other axes counts in steps of `unit`.
  Walk(std::span<const std::int64_t> shape, std::span<const int> along, std::int64_t unit = 1);

  /// Elements first, first + 1, …: both spans are of one length and end inside the block.
  void at(std::int64_t first, std::span<std::int64_t> outer, std::span<std::int64_t> k) const;

 private:
  struct Axis {
    std::int64_t extent;
    std::int64_t outer_step;
    std::int64_t k_step;
  };
  std::vector<Axis> axes_;  // outermost first; neighbours of one kind are one axis
};

}  // namespace bic
