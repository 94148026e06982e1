#include "generators/contraction.h"

#include <algorithm>

namespace bic {
namespace {

std::int64_t elements_over(const OperandShape& operand, std::span<const int> axes) {
  std::int64_t product = 1;
  for (const int axis : axes) product *= operand.shape[static_cast<std::size_t>(axis)];
  return product;
}

}  // namespace

Contraction contraction_of(std::span<const OperandShape> operands) {
  Contraction c;
  bool all_axes = true;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const OperandShape& operand = operands[i];
    c.along.push_back(operand.reduced);
    std::sort(c.along.back().begin(), c.along.back().end());
    if (operand.reduced.empty()) continue;
    const std::int64_t length = elements_over(operand, operand.reduced);
    if (c.leader < 0) {
      c.leader = static_cast<int>(i);
      c.length = length;
    }
    all_axes = all_axes && length == c.length;
    c.terms = std::max(c.terms, length);
  }
  if (all_axes) return c;
  for (auto& axes : c.along) axes.resize(std::min<std::size_t>(axes.size(), 1));
  const auto leader = static_cast<std::size_t>(c.leader);
  c.length = elements_over(operands[leader], c.along[leader]);
  return c;
}

Walk::Walk(std::span<const std::int64_t> shape, std::span<const int> along, std::int64_t unit) {
  std::int64_t outer_step = unit;
  std::int64_t k_step = 1;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    const std::int64_t extent = shape[static_cast<std::size_t>(i)];
    const bool is_along = std::find(along.begin(), along.end(), i) != along.end();
    const bool joins = !axes_.empty() && (axes_.front().k_step != 0) == is_along;
    if (joins) {
      axes_.front().extent *= extent;
    } else {
      axes_.insert(axes_.begin(), {extent, is_along ? 0 : outer_step, is_along ? k_step : 0});
    }
    (is_along ? k_step : outer_step) *= extent;
  }
  if (axes_.empty()) axes_.push_back({1, 1, 0});
}

void Walk::at(std::int64_t first, std::span<std::int64_t> outer, std::span<std::int64_t> k) const {
  const Axis& last = axes_.back();
  for (std::size_t done = 0; done < outer.size();) {
    const std::int64_t index = first + static_cast<std::int64_t>(done);
    const std::int64_t column = index % last.extent;
    std::int64_t outer_base = column * last.outer_step;
    std::int64_t k_base = column * last.k_step;
    std::int64_t rest = index / last.extent;
    for (std::size_t a = axes_.size() - 1; a-- > 0; rest /= axes_[a].extent) {
      outer_base += rest % axes_[a].extent * axes_[a].outer_step;
      k_base += rest % axes_[a].extent * axes_[a].k_step;
    }
    const std::size_t run =
        std::min(outer.size() - done, static_cast<std::size_t>(last.extent - column));
    for (std::size_t i = 0; i < run; ++i) {
      outer[done + i] = outer_base + static_cast<std::int64_t>(i) * last.outer_step;
      k[done + i] = k_base + static_cast<std::int64_t>(i) * last.k_step;
    }
    done += run;
  }
}

}  // namespace bic
