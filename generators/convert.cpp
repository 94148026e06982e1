#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "generators/isa.h"
#include "generators/laws.h"

namespace bic {
namespace {

/// A 16-bit format: stored significand bits and exponent bias.
struct Bfloat16 {
  static constexpr int kStored = 7, kBias = 127;
  static constexpr std::uint16_t kNan = 0x7fc0, kInfinity = 0x7f80;
};
struct Float16 {
  static constexpr int kStored = 10, kBias = 15;
  static constexpr std::uint16_t kNan = 0x7e00, kInfinity = 0x7c00;
};

constexpr std::uint64_t kSign = 0x8000000000000000;
constexpr std::uint64_t kInfinityBits = 0x7ff0000000000000;

constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

/// `yes` or `no`, computed both: a branch would keep the loop from being vectorised.
BIC_LOOP inline std::uint64_t select(bool condition, std::uint64_t yes, std::uint64_t no) {
  const std::uint64_t mask = 0 - static_cast<std::uint64_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// Rounds once, straight from the 53 bits: by way of fp32 some values would be rounded twice.
template <typename F>
BIC_LOOP inline std::uint64_t narrowed(double value) {
  constexpr int kDropped = 52 - F::kStored;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & ~kSign;
  // To nearest even by carry: half a unit less one, plus the bit that stays last.
  const std::uint64_t carried =
      magnitude + ((std::uint64_t{1} << (kDropped - 1)) - 1) + ((magnitude >> kDropped) & 1);
  constexpr std::uint64_t kRebias = std::uint64_t{1023 - F::kBias} << F::kStored;
  std::uint64_t result = (carried >> kDropped) - kRebias;
  constexpr std::uint64_t kOverflow = std::uint64_t{1023 + F::kBias + 1}
                                      << 52;  // the first power of two without a pattern
  result = select(carried >= kOverflow, F::kInfinity, result);
  // A sum whose last place is the format's smallest subnormal rounds there, and counts them.
  constexpr double kAnchor = power_of_two(52 + 1 - F::kBias - F::kStored);
  constexpr std::uint64_t kSmallestNormal = std::uint64_t{1023 + 1 - F::kBias} << 52;
  const std::uint64_t count =
      std::bit_cast<std::uint64_t>(std::bit_cast<double>(magnitude) + kAnchor) -
      std::bit_cast<std::uint64_t>(kAnchor);
  result = select(magnitude < kSmallestNormal, count, result);
  result |= (bits & kSign) >> 48;
  return select(magnitude > kInfinityBits, F::kNan, result);
}

template <typename F>
BIC_LOOP inline double widened(std::uint64_t pattern) {
  const std::uint64_t magnitude = pattern & 0x7fff;
  const std::uint64_t shifted = magnitude << (52 - F::kStored);
  constexpr std::uint64_t kRebias = std::uint64_t{1023 - F::kBias} << 52;
  std::uint64_t result = shifted + kRebias;
  result = select(magnitude >= F::kInfinity, shifted | kInfinityBits, result);
  // Subnormals: magnitude times the smallest one, by way of an integer below a power of two.
  constexpr std::uint64_t kInteger = 0x4330000000000000;  // 2^52
  constexpr double kSmallest = power_of_two(1 - F::kBias - F::kStored);
  const double subnormal = (std::bit_cast<double>(kInteger | magnitude) - 0x1p52) * kSmallest;
  result = select((magnitude >> F::kStored) == 0, std::bit_cast<std::uint64_t>(subnormal), result);
  return std::bit_cast<double>(result | ((pattern & 0x8000) << 48));
}

constexpr std::size_t kChunk = 256;

/// out[i] = convert(in[i]), through a buffer that is aligned and aliases nothing.
template <typename Out, typename Convert>
void narrow_by(std::span<const double> in, std::byte* out, const Convert& convert) {
  std::array<Out, kChunk> buffer;
  for (std::size_t at = 0; at < in.size(); at += kChunk) {
    const std::size_t n = std::min(kChunk, in.size() - at);
    const double* from = in.data() + at;
    isa::run_widest([&]() BIC_LOOP {
      for (std::size_t i = 0; i < n; ++i) buffer[i] = convert(from[i]);
    });
    std::memcpy(out + at * sizeof(Out), buffer.data(), n * sizeof(Out));
  }
}

template <typename In, typename Convert>
void widen_by(const std::byte* in, std::span<double> out, const Convert& convert) {
  std::array<In, kChunk> buffer;
  for (std::size_t at = 0; at < out.size(); at += kChunk) {
    const std::size_t n = std::min(kChunk, out.size() - at);
    std::memcpy(buffer.data(), in + at * sizeof(In), n * sizeof(In));
    double* to = out.data() + at;
    isa::run_widest([&]() BIC_LOOP {
      for (std::size_t i = 0; i < n; ++i) to[i] = convert(buffer[i]);
    });
  }
}

template <typename F>
void narrow_to(std::span<const double> in, std::byte* out) {
  narrow_by<std::uint16_t>(
      in, out, [](double v) BIC_LOOP { return static_cast<std::uint16_t>(narrowed<F>(v)); });
}

template <typename F>
void widen_from(const std::byte* in, std::span<double> out) {
  widen_by<std::uint16_t>(in, out, [](std::uint16_t p) BIC_LOOP { return widened<F>(p); });
}

BIC_LOOP inline float narrowed_to_float(double v) {
  return v != v ? std::bit_cast<float>(std::uint32_t{0x7fc00000}) : static_cast<float>(v);
}

BIC_LOOP inline double canonical(double v) {
  return v != v ? std::bit_cast<double>(std::uint64_t{0x7ff8000000000000}) : v;
}

}  // namespace

void widen(DType dtype, std::span<const std::byte> in, std::span<double> out) {
  switch (dtype) {
    case DType::kFloat32:
      return widen_by<float>(in.data(), out, [](float v) BIC_LOOP { return double{v}; });
    case DType::kBFloat16:
      return widen_from<Bfloat16>(in.data(), out);
    case DType::kFloat16:
      return widen_from<Float16>(in.data(), out);
    case DType::kFloat64:
      std::memcpy(out.data(), in.data(), out.size_bytes());
      return;
  }
}

void narrow(DType dtype, std::span<const double> in, std::span<std::byte> out) {
  switch (dtype) {
    case DType::kFloat32:
      return narrow_by<float>(
          in, out.data(), [](double v) BIC_LOOP { return narrowed_to_float(v); });
    case DType::kBFloat16:
      return narrow_to<Bfloat16>(in, out.data());
    case DType::kFloat16:
      return narrow_to<Float16>(in, out.data());
    case DType::kFloat64:
      return narrow_by<double>(in, out.data(), [](double v) BIC_LOOP { return canonical(v); });
  }
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat32:
      return double{narrowed_to_float(value)};
    case DType::kBFloat16:
      return widened<Bfloat16>(narrowed<Bfloat16>(value));
    case DType::kFloat16:
      return widened<Float16>(narrowed<Float16>(value));
    case DType::kFloat64:
      return canonical(value);
  }
  return value;
}

}  // namespace bic
