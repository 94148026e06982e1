#include "generators/counter_rng.h"

#include "generators/isa.h"

#if BIC_HAS_AVX2_PATH
#include <immintrin.h>
#endif

namespace bic {
namespace {

#if BIC_HAS_AVX2_PATH
// Written out: compilers square 64 bits with three multiplications of 32 where two do.
BIC_TARGET_AVX2 inline __m256i square(__m256i x) {
  const __m256i cross = _mm256_mul_epu32(x, _mm256_srli_epi64(x, 32));
  return _mm256_add_epi64(_mm256_mul_epu32(x, x), _mm256_slli_epi64(cross, 33));
}

BIC_TARGET_AVX2 inline __m256i swap_halves(__m256i x) { return _mm256_shuffle_epi32(x, 0xb1); }

/// `random_bits` from y = counter * key.
BIC_TARGET_AVX2 inline __m256i rounds(__m256i y, __m256i key) {
  const __m256i z = _mm256_add_epi64(y, key);
  __m256i x = swap_halves(_mm256_add_epi64(square(y), y));
  x = swap_halves(_mm256_add_epi64(square(x), z));
  x = swap_halves(_mm256_add_epi64(square(x), y));
  const __m256i t = _mm256_add_epi64(square(x), z);
  x = _mm256_add_epi64(square(swap_halves(t)), y);
  return _mm256_xor_si256(t, _mm256_srli_epi64(x, 32));
}

BIC_TARGET_AVX2 inline __m256i multiply(__m256i a, __m256i b) {
  const __m256i ab = _mm256_mul_epu32(a, _mm256_srli_epi64(b, 32));
  const __m256i ba = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), b);
  return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(_mm256_add_epi64(ab, ba), 32));
}

BIC_TARGET_AVX2 std::size_t by_fours(std::uint64_t key,
                                     std::uint64_t first,
                                     std::span<std::uint64_t> bits) {
  const auto at = [&](std::uint64_t i) { return static_cast<long long>((first + i) * key); };
  const __m256i keys = _mm256_set1_epi64x(static_cast<long long>(key));
  const __m256i step = _mm256_set1_epi64x(static_cast<long long>(4 * key));
  __m256i y = _mm256_set_epi64x(at(3), at(2), at(1), at(0));
  std::size_t i = 0;
  for (; i + 4 <= bits.size(); i += 4) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(&bits[i]), rounds(y, keys));
    y = _mm256_add_epi64(y, step);
  }
  return i;
}

BIC_TARGET_AVX2 std::size_t by_fours(std::uint64_t key,
                                     std::span<const std::uint64_t> counters,
                                     std::span<std::uint64_t> bits) {
  const __m256i keys = _mm256_set1_epi64x(static_cast<long long>(key));
  std::size_t i = 0;
  for (; i + 4 <= bits.size(); i += 4) {
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&counters[i]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(&bits[i]), rounds(multiply(at, keys), keys));
  }
  return i;
}
#else
std::size_t by_fours(std::uint64_t, std::uint64_t, std::span<std::uint64_t>) { return 0; }
std::size_t by_fours(std::uint64_t, std::span<const std::uint64_t>, std::span<std::uint64_t>) {
  return 0;
}
#endif

}  // namespace

void random_bits(std::uint64_t key, std::uint64_t first, std::span<std::uint64_t> bits) {
  std::size_t i = isa::has_avx2() ? by_fours(key | 1, first, bits) : 0;
  for (; i < bits.size(); ++i) bits[i] = random_bits(key, first + i);
}

void random_bits(std::uint64_t key,
                 std::span<const std::uint64_t> counters,
                 std::span<std::uint64_t> bits) {
  std::size_t i = isa::has_avx2() ? by_fours(key | 1, counters, bits) : 0;
  for (; i < bits.size(); ++i) bits[i] = random_bits(key, counters[i]);
}

}  // namespace bic
