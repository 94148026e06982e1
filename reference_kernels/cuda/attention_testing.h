#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "reference_kernels/cuda/attention.h"
#include "reference_kernels/cuda/cuda_testing.h"

// Problems of attention on the device, for its tests.

namespace bic::cuda::testing {

using namespace cpu::testing;  // NOLINT: test

/// Operands that own their values, row-major: q [batch, heads, l, e], k and v [batch, key_heads, s,
/// e or ev], masks [batch, 1, l, s].
template <class T>
struct Problem {
  std::int64_t batch = 1, heads = 1, key_heads = 1, l = 1, s = 1, e = 1, ev = 1;
  bool causal = false;
  std::vector<T> q{}, k{}, v{};
  std::vector<char> seen{};
  std::vector<Acc<T>> added{};

  std::int64_t key_head(std::int64_t b, std::int64_t h) const {
    return b * key_heads + h / (heads / key_heads);
  }
};

template <class T>
Problem<T> random_problem(Problem<T> p, std::uint64_t seed) {
  p.q = random_values<T>(p.batch * p.heads * p.l * p.e, seed);
  p.k = random_values<T>(p.batch * p.key_heads * p.s * p.e, seed + 1);
  p.v = random_values<T>(p.batch * p.key_heads * p.s * p.ev, seed + 2);
  return p;
}

template <class T>
cpu::AttentionArgs<T> args_of(const Problem<T>& p) {
  cpu::AttentionArgs<T> g;
  g.q_at = {p.heads * p.l * p.e, p.l * p.e, p.e};
  g.k_at = {p.key_heads * p.s * p.e, p.s * p.e, p.e};
  g.v_at = {p.key_heads * p.s * p.ev, p.s * p.ev, p.ev};
  g.y_at = {p.heads * p.l * p.ev, p.l * p.ev, p.ev};
  g.mask_at = {p.l * p.s, 0, p.s};
  g.causal = p.causal;
  g.batch = p.batch, g.heads = p.heads, g.key_heads = p.key_heads;
  g.l = p.l, g.s = p.s, g.e = p.e, g.ev = p.ev;
  g.scale = 0.125;
  return g;
}

/// `g` says where in the problem's values the operands lie; they start `offset` elements behind an
/// aligned address.
template <class T>
std::vector<T> run(const Problem<T>& p, cpu::AttentionArgs<T> g, std::int64_t offset = 0) {
  const DeviceArray<T> q(p.q, offset), k(p.k, offset), v(p.v, offset);
  const DeviceArray<char> seen(p.seen);
  const DeviceArray<Acc<T>> added(p.added);
  const std::int64_t count = p.batch * p.heads * p.l * p.ev;
  const DeviceArray<T> y(std::vector<T>(count + 1, Guarded<T>::guard()), offset);
  g.q = q.data(), g.k = k.data(), g.v = v.data(), g.y = y.data();
  if (!p.seen.empty()) g.seen = reinterpret_cast<const bool*>(seen.data());
  if (!p.added.empty()) g.added = added.data();
  const TestLaunch launch;
  attention(g, launch.get());
  std::vector<T> all = y.values();
  EXPECT_EQ(bits_of(all.back()), bits_of(Guarded<T>::guard()));
  all.pop_back();
  return all;
}

template <class T>
std::vector<T> run(const Problem<T>& p) {
  return run(p, args_of(p));
}

template <class V>
V slice(const V& x, std::int64_t first, std::int64_t count) {
  return V(x.begin() + first, x.begin() + first + count);
}

template <class V>
V part(const V& x, std::int64_t parts, std::int64_t i) {
  const std::int64_t count = static_cast<std::int64_t>(x.size()) / parts;
  return slice(x, i * count, count);
}

/// Query i of head h of sample b alone, before the first `s` keys, with its mask.
template <class T>
Problem<T> row_alone(
    const Problem<T>& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t s) {
  Problem<T> one{.s = s, .e = p.e, .ev = p.ev};
  one.q = slice(p.q, ((b * p.heads + h) * p.l + i) * p.e, p.e);
  one.k = slice(p.k, p.key_head(b, h) * p.s * p.e, s * p.e);
  one.v = slice(p.v, p.key_head(b, h) * p.s * p.ev, s * p.ev);
  if (!p.seen.empty()) one.seen = slice(p.seen, (b * p.l + i) * p.s, s);
  if (!p.added.empty()) one.added = slice(p.added, (b * p.l + i) * p.s, s);
  return one;
}

/// Some keys of each row unseen, never the first.
template <class T>
void hide_some(Problem<T>& p, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  p.seen.assign(p.batch * p.l * p.s, 1);
  for (std::size_t i = 0; i < p.seen.size(); ++i) p.seen[i] = i % p.s == 0 || bits() % 3 != 0;
}

}  // namespace bic::cuda::testing
