// Laws whose sums are exact in the accumulator in every order: what differs was dropped, added
// twice or rounded on its way in. And law `masks`, whose sums tell which terms met before which.
#include <algorithm>

#include "generators/values.h"

namespace bic {
namespace {

double plus_or_minus(std::uint64_t bits, std::uint64_t magnitude) {
  const double value = draws::integer_less(magnitude, 0);
  return (bits >> 63) != 0 ? -value : value;
}

/// Places along the shared index of a chunk's elements, with the bits of each.
struct Steps {
  std::array<std::int64_t, kChunk> outer;
  std::array<std::int64_t, kChunk> k;
  Bits bits;
};

/// Sizes of the ramp's values, in units of its grid: sums of magnitudes stay at or below 2^24 (2^53
/// in fp64). At most 1024 terms are heavy, below 2^heavy_bits each and below 2^22 together.
struct Grid {
  int heavy_bits;       ///< significant bits of a heavy value
  int decisive_bits;    ///< significant bits of the last term
  int decisive_log2;    ///< the last term lies in [2^this, 1.5 * 2^this)
  double unit;          ///< of the leader; 2^-9 in fp16 keeps sums below 2^15
  std::int64_t stride;  ///< k - last is a multiple of it at heavy terms
};

Grid grid_of(const Block& block) {
  const DType dtype = block.problem.dtype;
  const Contraction& c = block.contraction;
  const bool is_wide = dtype == DType::kFloat64;
  int repeats_log2 = 0;  // the last k stands in that many terms of one output
  while ((std::int64_t{1} << repeats_log2) * c.length < c.terms) ++repeats_log2;
  Grid grid;
  grid.heavy_bits = std::min(precision(dtype), is_wide ? 26 : 12);
  grid.decisive_log2 = (is_wide ? 45 : 22) - repeats_log2;
  grid.decisive_bits = std::min(precision(dtype), grid.decisive_log2 + 1);
  grid.unit = dtype == DType::kFloat16 ? 0x1p-9 : 1;
  grid.stride = (c.terms + 1023) / 1024;
  return grid;
}

/// An odd integer of exactly `digits` bits.
std::uint64_t odd_integer(std::uint64_t bits, int digits) {
  const std::uint64_t top = std::uint64_t{1} << (digits - 1);
  return top | (bits & (top - 1)) | 1;
}

double decisive(const Grid& grid, std::uint64_t bits) {
  // The bit under the leading one stays clear.
  const std::uint64_t mask = ~(std::uint64_t{1} << (grid.decisive_bits - 2));
  const std::uint64_t integer = odd_integer(bits & mask, grid.decisive_bits);
  return plus_or_minus(bits, integer << (grid.decisive_log2 + 1 - grid.decisive_bits));
}

/// Heavy values stand by turns in the leader and in its factors, the other side being +-1.
double ramp_value(const Grid& grid, std::int64_t from_last, bool leads, std::uint64_t bits) {
  if (from_last == 0) return leads ? decisive(grid, bits) : plus_or_minus(bits, 1);
  if (from_last % grid.stride != 0) return plus_or_minus(bits, 1 + draws::below(bits, 3));
  const bool leader_is_heavy = from_last / grid.stride % 2 == 0;
  const bool is_heavy = leads == leader_is_heavy;
  return plus_or_minus(bits, is_heavy ? odd_integer(bits, grid.heavy_bits) : 1);
}

/// Seeded places of +huge and -huge on an axis of `length` >= 2; never the same.
struct Masks {
  std::int64_t plus;
  std::int64_t minus;
};

Masks masks_of(std::uint64_t key, std::int64_t outer, std::int64_t length) {
  const std::uint64_t bits = random_bits(key, static_cast<std::uint64_t>(outer));
  const auto n = static_cast<std::uint64_t>(length);
  const std::uint64_t plus = (bits >> 32) % n;
  const std::uint64_t minus = (plus + 1 + (bits & 0xffffffff) % (n - 1)) % n;
  return {static_cast<std::int64_t>(plus), static_cast<std::int64_t>(minus)};
}

/// 2^62: its square is finite in fp32, and it swamps ones in fp32 and in fp64 sums. fp16 ends at
/// 2^16: there units of 2^-14 are swamped, which sums to 2^9 units in fp32.
struct MaskValues {
  double huge;
  double unit;
};

MaskValues mask_values(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {0x1p15, 0x1p-14};
    case DType::kFloat64:
      return {0x1p500, 1};
    default:
      return {0x1p62, 1};
  }
}

}  // namespace

Values ones_values(const Block&) {
  return [](std::int64_t, std::span<double> out) { std::fill(out.begin(), out.end(), 1.0); };
}

Values integers_values(const Block& block) {
  return from_bits(block, [](std::uint64_t bits, double) BIC_LOOP {
    return draws::integer_less(draws::below(bits, 9), 4);
  });
}

Values ramp_values(const Block& block) {
  const Grid grid = grid_of(block);
  if (!block.is_reduced()) {
    return from_bits(block, [=](std::uint64_t bits, double) {
      return plus_or_minus(bits, 1 + draws::below(bits, 3)) * grid.unit;
    });
  }
  const double unit = block.leads() ? grid.unit : 1;
  const std::int64_t last = block.contraction.length - 1;
  return [=, walk = block.walk(), leads = block.leads(), key = block.key.value](
             std::int64_t first, std::span<double> out) {
    const std::size_t n = out.size();
    Steps s;
    walk.at(first, std::span(s.outer).first(n), std::span(s.k).first(n));
    random_bits(key, static_cast<std::uint64_t>(first), std::span(s.bits).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = ramp_value(grid, last - s.k[i], leads, s.bits[i]) * unit;
    }
  };
}

Values masks_values(const Block& block) {
  const std::int64_t length = block.contraction.length;
  const MaskValues v = mask_values(block.problem.dtype);
  if (!block.leads() || length < 3) return ones_values(block);
  return
      [=, walk = block.walk(), key = block.key.value](std::int64_t first, std::span<double> out) {
        const std::size_t n = out.size();
        Steps s;
        walk.at(first, std::span(s.outer).first(n), std::span(s.k).first(n));
        std::int64_t outer = -1;
        Masks masks{};
        for (std::size_t i = 0; i < n; ++i) {
          if (s.outer[i] != outer) masks = masks_of(key, outer = s.outer[i], length);
          out[i] = s.k[i] == masks.plus ? v.huge : s.k[i] == masks.minus ? -v.huge : v.unit;
        }
      };
}

}  // namespace bic
