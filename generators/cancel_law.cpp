// Law `cancel`: large terms that cancel exactly, so that what is left of a sum is small terms and
// the rounding errors of its order.
#include <optional>

#include "generators/values.h"

namespace bic {
namespace {

/// Large terms have magnitudes 2^lowest … 2^(lowest + exponents).
struct Magnitudes {
  int lowest;
  std::uint64_t exponents;
  double small;  ///< scale of the small terms
};

/// fp16 has no room for 2^+-12: nine exponents, below those at which the sum could reach 2^15, and
/// small terms that stand as far below the largest as its output's 11 bits still tell.
Magnitudes magnitudes_of(const Block& block) {
  if (block.problem.dtype != DType::kFloat16) return {-12, 25, 0x1p-7};
  // The other factor stays below 2^1.8, hence four times the terms.
  const int top = fp16_top_exponent(4 * block.contraction.terms, 1, 4);
  return {top - 8, 9, draws::scaled(0, top - 11, 0)};
}

/// Which elements belong together: k and k + period, with alternating signs.
struct Pairing {
  Walk walk;  ///< whose rows count in steps of `length`
  std::int64_t length;
  std::int64_t period;
  std::int64_t alone_begin = 0;  ///< k in [alone_begin, alone_end) have no partner
  std::int64_t alone_end = 0;
  double alone_scale = 1;  ///< of the factor that stands at such a k
};

/// Partners half the axis apart, so that most splits of it separate them: k and k + ceil(length /
/// 2); the middle of an odd length is alone.
Pairing pair_halves(const Block& block) {
  const std::int64_t length = block.contraction.length;
  const std::int64_t period = std::max<std::int64_t>((length + 1) / 2, 1);
  Pairing pairing{block.walk(length), length, period};
  if (length % 2 == 1) {
    pairing.alone_begin = period - 1;
    pairing.alone_end = period;
  }
  return pairing;
}

/// The rows of taps of a convolution, where the operands share a channel axis only: the axis after
/// the shared one. Empty for other problems.
std::optional<std::int64_t> tap_rows(const Block& block) {
  const auto& operands = block.problem.operands;
  if (block.contraction.terms == block.contraction.length) return std::nullopt;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool follows = static_cast<int>(i) != block.contraction.leader;
    if (follows && operands[i].reduced.size() > 1) {
      return operands[i].shape[static_cast<std::size_t>(operands[i].reduced[1])];
    }
  }
  return std::nullopt;
}

/// Too few channels to pair: rows of the image and of the taps half the taps' height apart. A tap
/// row without partner is so small that its terms are the small ones.
std::optional<Pairing> pair_taps(const Block& block) {
  constexpr std::int64_t kFewChannels = 4;
  const std::optional<std::int64_t> taps = tap_rows(block);
  if (block.contraction.length >= kFewChannels || !taps || *taps < 2) return std::nullopt;
  const auto axis = static_cast<std::size_t>(block.contraction.along[block.operand].front() + 1);
  if (axis >= block.shape().shape.size()) return std::nullopt;
  const int along[] = {static_cast<int>(axis)};
  const std::int64_t length = block.shape().shape[axis];
  Pairing pairing{Walk(block.shape().shape, along, length), length, *taps / 2};
  if (!block.leads()) {
    pairing.alone_begin = 2 * pairing.period;
    pairing.alone_end = pairing.length;
    pairing.alone_scale = block.problem.dtype == DType::kFloat16 ? 0x1p-11 : 0x1p-19;
  }
  return pairing;
}

/// Places of a chunk's elements. All as wide as the values, so that loops over both are vectorised.
struct Places {
  std::array<std::int64_t, kChunk> row;  ///< number of the first pair of the element's row
  std::array<std::int64_t, kChunk> k;
  Bits pair;    ///< one number for both partners
  Bits is_odd;  ///< 0 or 1: whether the sign is turned
  Bits is_alone;
};

/// More than two elements of a kind: every other one has its sign turned.
void fold(const Pairing& p, std::size_t n, Places& places) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t turn = places.k[i] / p.period;
    places.pair[i] = static_cast<std::uint64_t>(places.row[i] + places.k[i] - turn * p.period);
    places.is_odd[i] = static_cast<std::uint64_t>(turn % 2);
  }
}

void locate(const Pairing& p, std::int64_t first, std::size_t n, Places& places) {
  p.walk.at(first, std::span(places.row).first(n), std::span(places.k).first(n));
  const std::int64_t period = p.period;
  const std::int64_t begin = p.alone_begin;
  const std::int64_t end = p.alone_end;
  isa::run_widest([=, &places]() BIC_LOOP {
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t k = places.k[i];
      const std::int64_t is_late = k >= period;
      places.pair[i] = static_cast<std::uint64_t>(places.row[i] + k - (-is_late & period));
      places.is_odd[i] = static_cast<std::uint64_t>(is_late);
      places.is_alone[i] = (k >= begin) & (k < end);
    }
  });
  if (p.length > 2 * period) fold(p, n, places);
}

/// m and -m at partners; about an eighth of the pairs, and those alone, hold independent small
/// terms.
Values leader_values(const Block& block, const Pairing& pairing) {
  const Magnitudes m = magnitudes_of(block);
  const Seed pair_key = derive(block.key, "pair");
  return [=](std::int64_t first, std::span<double> out) {
    const std::size_t n = out.size();
    Places places;
    Bits bits;
    locate(pairing, first, n, places);
    random_bits(pair_key.value, std::span(places.pair).first(n), std::span(bits).first(n));
    isa::run_widest([=, to = out.data(), &places, &bits]() BIC_LOOP {
      for (std::size_t i = 0; i < n; ++i) {
        // From the top: sign, whether small (three bits), exponent (eight), significand.
        const std::uint64_t step = (((bits[i] >> 52) & 0xff) * m.exponents) >> 8;
        const double large = draws::scaled((bits[i] >> 63) ^ places.is_odd[i],
                                           m.lowest + static_cast<std::int64_t>(step),
                                           bits[i]);
        const std::uint64_t own = draws::remixed(bits[i], places.is_odd[i]);
        const double small = draws::normal(own, draws::fine(own)) * m.small;
        const std::uint64_t is_small = places.is_alone[i] | ((bits[i] >> 60 & 7) == 0);
        to[i] = draws::select(0 - is_small, small, large);
      }
    });
  };
}

/// The same normal value at partners.
Values follower_values(const Block& block, const Pairing& pairing) {
  return [=, key = block.key.value, alone_scale = pairing.alone_scale](std::int64_t first,
                                                                       std::span<double> out) {
    const std::size_t n = out.size();
    Places places;
    Bits bits;
    locate(pairing, first, n, places);
    random_bits(key, std::span(places.pair).first(n), std::span(bits).first(n));
    isa::run_widest([=, to = out.data(), &places, &bits]() BIC_LOOP {
      for (std::size_t i = 0; i < n; ++i) {
        const double value = draws::normal(bits[i], draws::fine(bits[i]));
        to[i] = draws::select(0 - places.is_alone[i], value * alone_scale, value);
      }
    });
  };
}

}  // namespace

Values cancel_values(const Block& block) {
  if (!block.is_reduced()) return normal_values(block);
  const Pairing pairing = pair_taps(block).value_or(pair_halves(block));
  return block.leads() ? leader_values(block, pairing) : follower_values(block, pairing);
}

}  // namespace bic
