#pragma once

#include <array>
#include <cstdint>

#include "reference_kernels/oracle/reference.h"

namespace bic {

/// Adds term(begin), term(begin + step), …, `count` of them, one after the other, to `s`.
template <class A, class Term>
A sum_sequence(std::int64_t begin, std::int64_t step, std::int64_t count, const Term& term, A s) {
  for (std::int64_t i = 0; i < count; ++i) s += term(begin + i * step);
  return s;
}

/// Splits at the middle down to eight terms, which it adds in sequence.
template <class A, class Term>
A sum_pairwise(std::int64_t begin, std::int64_t count, const Term& term) {
  if (count <= 8) return sum_sequence(begin, 1, count, term, A{});
  const std::int64_t half = count / 2;
  const A left = sum_pairwise<A>(begin, half, term);
  return left + sum_pairwise<A>(begin + half, count - half, term);
}

/// Lane l adds the terms l, l + 16, …; then l with l + 8, + 4, + 2, + 1.
template <class A, class Term>
A sum_lanes(std::int64_t count, const Term& term) {
  constexpr int kLanes = 16;
  std::array<A, kLanes> lanes{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += term(i + l);
  }
  for (int l = 0; i < count; ++i, ++l) lanes[l] += term(i);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  }
  return lanes[0];
}

/// term(0) + … + term(count - 1) in type A and in `order`. Every order starts from +0, so that a
/// sum of zeros has the same sign in all of them.
template <class A, class Term>
A sum_in_order(Order order, std::int64_t count, const Term& term) {
  switch (order) {
    case Order::kReversed:
      return sum_sequence(count - 1, -1, count, term, A{});
    case Order::kHalves: {
      const std::int64_t half = (count + 1) / 2;
      const A left = sum_sequence(0, 1, half, term, A{});
      return left + sum_sequence(half, 1, count - half, term, A{});
    }
    case Order::kLanes16:
      return sum_lanes<A>(count, term);
    case Order::kPairwise:
      return sum_pairwise<A>(0, count, term);
    case Order::kSequential:
      break;
  }
  return sum_sequence(0, 1, count, term, A{});
}

}  // namespace bic
