#include "harness/judge/permuted.h"

#include <numeric>

namespace bic {
namespace {

/// Appends from, from + step, … below `extent`.
void append_every(std::vector<std::int64_t>& to,
                  std::int64_t from,
                  std::int64_t step,
                  std::int64_t extent) {
  for (std::int64_t i = from; i < extent; i += step) to.push_back(i);
}

}  // namespace

std::vector<std::int64_t> permutation(Order order, std::int64_t extent) {
  constexpr std::int64_t kLanes = 16;
  std::vector<std::int64_t> from;
  const std::int64_t half = (extent + 1) / 2;
  switch (order) {
    case Order::kReversed:
      append_every(from, 0, 1, extent);
      return {from.rbegin(), from.rend()};
    case Order::kHalves:
      for (std::int64_t i = 0; i < half; ++i) append_every(from, i, half, extent);
      return from;
    case Order::kLanes16:
      for (std::int64_t lane = 0; lane < kLanes; ++lane) append_every(from, lane, kLanes, extent);
      return from;
    case Order::kSequential:
    case Order::kPairwise:
      append_every(from, 0, 1, extent);
  }
  return from;
}

std::vector<double> permuted(const TensorSpec& t,
                             const Variant& variant,
                             const Dims& dims,
                             Order order,
                             std::span<const double> block,
                             Permuting way) {
  std::vector<double> now(block.begin(), block.end()), next(block.size());
  const std::vector<std::int64_t> shape = block_shape(t, dims);
  for (const int axis : reduced_axes(t, variant)) {
    const auto begin = shape.begin() + axis;
    const std::int64_t extent = *begin;
    const std::int64_t inner =
        std::accumulate(begin + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
    const std::vector<std::int64_t> from = permutation(order, extent);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(block.size()); ++i) {
      const std::int64_t at = i / inner % extent;
      const std::int64_t other = i + (from[static_cast<std::size_t>(at)] - at) * inner;
      (way == Permuting::kInto ? next[i] : next[other]) = now[way == Permuting::kInto ? other : i];
    }
    std::swap(now, next);
  }
  return now;
}

}  // namespace bic
