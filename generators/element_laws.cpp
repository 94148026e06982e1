// Laws whose elements know only their own index.
#include <algorithm>
#include <cstring>

#include "generators/values.h"

namespace bic {

Values normal_values(const Block& block) {
  return from_bits(
      block, [](std::uint64_t bits, double below) BIC_LOOP { return draws::normal(bits, below); });
}

Values uniform_values(const Block& block) {
  return from_bits(
      block, [](std::uint64_t bits, double below) BIC_LOOP { return draws::uniform(bits, below); });
}

Values factors_values(const Block& block) {
  return from_bits(block, [](std::uint64_t bits, double) BIC_LOOP {
    const double above = 1.0 + 0.25 * draws::unit(bits);
    const double size = draws::select(0 - (bits & 1), above, 1.0 / above);
    return draws::select(0 - (bits >> 1 & 1), size, -size);
  });
}

int fp16_top_exponent(std::int64_t terms, int factors, int most) {
  int log2_terms = 0;
  while ((std::int64_t{1} << log2_terms) < terms) ++log2_terms;
  const int spare = 15 - log2_terms;
  const int per_factor = spare >= 0 ? spare / factors : -((factors - 1 - spare) / factors);
  return std::min(most, per_factor - 1);
}

Values wide_values(const Block& block) {
  int lowest = -20;
  std::uint64_t exponents = 41;
  if (block.problem.dtype == DType::kFloat16) {
    lowest = fp16_top_exponent(block.contraction.terms, 2, 3) - 6;
    exponents = 7;
  }
  return from_bits(block, [=](std::uint64_t bits, double) BIC_LOOP {
    // Sign and exponent from the 12 upper bits, the significand from the others.
    const std::uint64_t step = (((bits >> 52) & 0x7ff) * exponents) >> 11;
    return draws::scaled(bits >> 63, lowest + static_cast<std::int64_t>(step), bits);
  });
}

Values linspace_values(const Block& block) {
  const double last = static_cast<double>(std::max<std::int64_t>(block.size - 1, 1));
  return [last](std::int64_t first, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = 200.0 * static_cast<double>(first + static_cast<std::int64_t>(i)) / last - 100.0;
    }
  };
}

Values sweep_values(const Block& block) {
  return from_bits(block, [](std::uint64_t bits, double below) BIC_LOOP {
    const std::uint64_t kind = bits & 7;
    const double common = 12.0 * draws::uniform(bits, below);
    const auto step = static_cast<std::int64_t>((bits >> 52) & 31);
    const double tiny = draws::scaled(bits >> 63, -32 + step, bits);
    const double large = draws::scaled(bits >> 63, 4 + step, bits);
    return kind == 0 ? tiny : kind == 1 ? large : common;
  });
}

void fill_patterns(const Block& block, std::span<std::byte> out) {
  constexpr std::uint64_t kStride = 40503;  // odd, so a bijection; far from small multiples
  const std::uint64_t offset = derive(block.problem.seed, block.shape().name).value;
  const std::uint64_t first =
      std::uint64_t{block.id.value} * static_cast<std::uint64_t>(block.size);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(block.size); ++i) {
    const auto pattern = static_cast<std::uint16_t>((first + i) * kStride + offset);
    std::memcpy(&out[2 * i], &pattern, 2);
  }
}

}  // namespace bic
