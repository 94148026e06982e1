#include "harness/judge/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "generators/laws.h"
#include "results_schema/shape.h"

namespace bic {
namespace {

std::uint64_t bits_at(std::span<const std::byte> bytes, std::int64_t index, std::int64_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * size, static_cast<std::size_t>(size));
  return bits;
}

std::string hex(std::uint64_t bits, std::int64_t size) {
  char text[24];
  std::snprintf(text,
                sizeof text,
                "0x%0*llx",
                static_cast<int>(2 * size),
                static_cast<unsigned long long>(bits));
  return text;
}

bool is_nan(DType dtype, std::uint64_t bits) {
  std::byte bytes[8];
  std::memcpy(bytes, &bits, sizeof bits);
  double value[1];
  widen(dtype, std::span(bytes).first(static_cast<std::size_t>(size_of(dtype))), value);
  return std::isnan(value[0]);
}

/// Steps between two values of one sign; their bit patterns count them.
std::optional<std::int64_t> ulps_between(DType dtype, std::uint64_t a, std::uint64_t b) {
  const int sign = static_cast<int>(8 * size_of(dtype) - 1);
  if (is_nan(dtype, a) || is_nan(dtype, b) || (a >> sign) != (b >> sign)) return {};
  const std::uint64_t steps = a > b ? a - b : b - a;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(steps, kMost));
}

}  // namespace

std::optional<Difference> compare_bytes(DType dtype,
                                        std::span<const std::byte> a,
                                        std::span<const std::byte> b) {
  if (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0) return {};
  const std::int64_t size = size_of(dtype);
  Difference d{.total = static_cast<std::int64_t>(a.size()) / size, .only_nan_payloads = true};
  for (std::int64_t i = 0; i < d.total; ++i) {
    const std::uint64_t x = bits_at(a, i, size), y = bits_at(b, i, size);
    if (x == y) continue;
    if (!is_nan(dtype, x) || !is_nan(dtype, y)) d.only_nan_payloads = false;
    if (d.differing++ > 0) continue;
    d.first = i;
    d.bits_a = hex(x, size);
    d.bits_b = hex(y, size);
    d.ulps = ulps_between(dtype, x, y);
  }
  return d;
}

std::vector<std::byte> block_of(std::span<const std::byte> tensor,
                                std::span<const std::int64_t> shape,
                                int batch_axis,
                                std::span<const std::int64_t> block,
                                std::int64_t slot,
                                std::int64_t element_size) {
  std::vector<std::int64_t> steps(shape.size(), element_size);
  for (std::size_t i = shape.size(); i-- > 1;) steps[i - 1] = steps[i] * shape[i];
  std::size_t cut = 0;  // the last axis of which the block is a part: from it on, runs are dense
  for (std::size_t i = 0; i < shape.size(); ++i) cut = block[i] != shape[i] ? i : cut;
  const std::int64_t run = element_count(block.subspan(cut)) * element_size;
  const std::int64_t first = batch_axis < 0 ? 0 : slot * block[batch_axis] * steps[batch_axis];
  std::vector<std::byte> bytes(static_cast<std::size_t>(element_count(block) * element_size));
  for (std::int64_t to = 0, row = 0; to < std::ssize(bytes); to += run, ++row) {
    std::int64_t from = first, rest = row;
    for (std::size_t axis = cut; axis-- > 0; rest /= block[axis]) {
      from += rest % block[axis] * steps[axis];
    }
    std::memcpy(bytes.data() + to, tensor.data() + from, static_cast<std::size_t>(run));
  }
  return bytes;
}

}  // namespace bic
