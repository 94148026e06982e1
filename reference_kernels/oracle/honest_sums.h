#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "reference_kernels/oracle/summation.h"

namespace bic::testing_support {

/// Ways in which an honest implementation may add up: the controls' orders and what they lack.
enum class Way : std::uint8_t { kOrder, kRandomTree, kKahan, kFused, kFusedLanes, kCount };

template <class A>
A random_tree(std::mt19937_64& rng, std::vector<A> terms) {
  while (terms.size() > 1) {
    const std::size_t i = rng() % terms.size();
    std::swap(terms[i], terms.back());
    const A taken = terms.back();
    terms.pop_back();
    terms[rng() % terms.size()] += taken;
  }
  return terms.empty() ? A{} : terms[0];
}

template <class A>
A kahan(std::span<const A> terms) {
  A sum{}, lost{};
  for (A t : terms) {
    const A y = t - lost;
    const A next = sum + y;
    lost = (next - sum) - y;
    sum = next;
  }
  return sum;
}

/// sum of a[i] * b[i] in type A in a way drawn from `rng`, products fused or not.
template <class A>
A honest_dot(std::mt19937_64& rng, std::span<const A> a, std::span<const A> b) {
  const Way way = static_cast<Way>(rng() % static_cast<std::uint64_t>(Way::kCount));
  if (way == Way::kFused || way == Way::kFusedLanes) {
    const std::size_t lanes = way == Way::kFused ? 1 : 1 + rng() % 8;
    std::vector<A> sums(lanes);
    for (std::size_t i = 0; i < a.size(); ++i) {
      sums[i % lanes] = std::fma(a[i], b[i], sums[i % lanes]);
    }
    return random_tree(rng, sums);
  }
  std::vector<A> terms(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) terms[i] = a[i] * b[i];
  if (way == Way::kRandomTree) return random_tree(rng, terms);
  if (way == Way::kKahan) return kahan<A>(terms);
  return sum_in_order<A>(static_cast<Order>(rng() % 5),
                         static_cast<std::int64_t>(terms.size()),
                         [&](std::int64_t i) { return terms[i]; });
}

template <class A>
A honest_sum(std::mt19937_64& rng, std::span<const A> terms) {
  const std::vector<A> ones(terms.size(), A{1});
  return honest_dot<A>(rng, terms, ones);
}

}  // namespace bic::testing_support
