#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "generators/contraction.h"
#include "generators/counter_rng.h"
#include "generators/draws.h"
#include "generators/isa.h"
#include "generators/laws.h"

namespace bic {

/// Elements that a law makes at a time: their bits and values stay in the first-level cache.
inline constexpr std::size_t kChunk = 512;

/// All that the values of one block may depend on.
struct Block {
  const FillProblem& problem;
  Contraction contraction;
  std::size_t operand = 0;
  SampleId id;            ///< 0 for a common operand
  Seed key;               ///< a mix of the problem's seed, the operand's name and the sample id
  std::int64_t size = 0;  ///< elements

  const OperandShape& shape() const { return problem.operands[operand]; }
  bool leads() const { return contraction.leader == static_cast<int>(operand); }
  bool is_reduced() const { return !contraction.along[operand].empty(); }
  Walk walk(std::int64_t unit = 1) const {
    return {shape().shape, contraction.along[operand], unit};
  }
};

/// Largest exponent such that `terms` products of `factors` values below 2^(exponent + 1) stay
/// below 2^15, where fp16 is safe from overflow; at most `most`.
int fp16_top_exponent(std::int64_t terms, int factors, int most);

/// Writes elements first, first + 1, … of a block; at most kChunk of them. Pure.
using Values = std::function<void(std::int64_t first, std::span<double> out)>;

// One factory a law; `generators/laws.h` says what each is for.
Values normal_values(const Block&);
Values uniform_values(const Block&);
Values cancel_values(const Block&);
Values factors_values(const Block&);
Values wide_values(const Block&);
Values outlier_values(const Block&);
Values linspace_values(const Block&);
Values ones_values(const Block&);
Values integers_values(const Block&);
Values ramp_values(const Block&);
Values masks_values(const Block&);
Values sweep_values(const Block&);  ///< of fp32 and fp64
Values special_values(const Block&);
Values nan_values(const Block&);
Values inf_values(const Block&);
Values denormal_values(const Block&);
Values huge_values(const Block&);

/// Law sweep in 16 bits: the patterns themselves, for a NaN's payload would not pass through
/// double.
void fill_patterns(const Block& block, std::span<std::byte> out);

using Bits = std::array<std::uint64_t, kChunk>;

/// The law whose value is `of(bits, below)`: `bits` are those of the element, `below` is 0, or for
/// fp64 the places under their grid. `of` is a lambda marked BIC_LOOP.
template <typename Of>
Values from_bits(const Block& block, Of of) {
  const std::uint64_t key = block.key.value;
  const bool is_fine = block.problem.dtype == DType::kFloat64;
  return [=](std::int64_t first, std::span<double> out) {
    Bits bits;
    const std::size_t n = out.size();
    random_bits(key, static_cast<std::uint64_t>(first), std::span(bits).first(n));
    isa::run_widest([&]() BIC_LOOP {
      if (is_fine) {
        for (std::size_t i = 0; i < n; ++i) out[i] = of(bits[i], draws::fine(bits[i]));
      } else {
        for (std::size_t i = 0; i < n; ++i) out[i] = of(bits[i], 0.0);
      }
    });
  };
}

}  // namespace bic
