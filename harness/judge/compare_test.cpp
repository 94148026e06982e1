#include "harness/judge/compare.h"

#include <gtest/gtest.h>

#include <cstring>

namespace bic {
namespace {

/// Elements given by their bits.
template <class Bits>
std::vector<std::byte> bytes(std::initializer_list<Bits> elements) {
  std::vector<std::byte> all(elements.size() * sizeof(Bits));
  std::memcpy(all.data(), elements.begin(), all.size());
  return all;
}

std::vector<std::byte> fp32(std::initializer_list<std::uint32_t> bits) { return bytes(bits); }

TEST(CompareBytes, FindsNothingBetweenEqualBytes) {
  const auto a = fp32({0x3f800000, 0x7fc00001, 0x80000000});
  EXPECT_FALSE(compare_bytes(DType::kFloat32, a, a));
  EXPECT_FALSE(compare_bytes(DType::kFloat32, {}, {}));
}

TEST(CompareBytes, SeesEachSingleBitInEachDtype) {
  for (DType t : kAllDTypes) {
    const auto size = static_cast<std::size_t>(size_of(t));
    const std::vector<std::byte> a(3 * size, std::byte{0x15});
    for (std::size_t bit = 0; bit < 8 * a.size(); ++bit) {
      auto b = a;
      b[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      const auto d = compare_bytes(t, a, b);
      ASSERT_TRUE(d) << name(t) << " bit " << bit;
      EXPECT_EQ(d->first, static_cast<std::int64_t>(bit / 8 / size));
      EXPECT_EQ(d->differing, 1);
      EXPECT_EQ(d->total, 3);
      EXPECT_FALSE(d->only_nan_payloads);
    }
  }
}

TEST(CompareBytes, TellsMinusZeroFromPlusZero) {
  const auto d = compare_bytes(DType::kFloat32, fp32({0x80000000}), fp32({0}));
  ASSERT_TRUE(d);
  EXPECT_EQ(d->bits_a, "0x80000000");
  EXPECT_EQ(d->bits_b, "0x00000000");
  EXPECT_FALSE(d->ulps) << "signs differ";
  EXPECT_FALSE(d->only_nan_payloads);
}

TEST(CompareBytes, KeepsNanPayloadsApartFromOtherBits) {
  const auto a = fp32({0x7fc00000, 0x3f800000}), b = fp32({0x7fc00001, 0x3f800000});
  const auto payload = compare_bytes(DType::kFloat32, a, b);
  ASSERT_TRUE(payload);
  EXPECT_TRUE(payload->only_nan_payloads);
  EXPECT_FALSE(payload->ulps);
  const auto c = fp32({0x7fc00001, 0x3f800001});
  const auto both = compare_bytes(DType::kFloat32, a, c);
  ASSERT_TRUE(both);
  EXPECT_FALSE(both->only_nan_payloads);
  EXPECT_EQ(both->differing, 2);
}

TEST(CompareBytes, CallsNanAgainstANumberMoreThanAPayload) {
  const auto d = compare_bytes(DType::kFloat32, fp32({0x7fc00000}), fp32({0x7f800000}));
  ASSERT_TRUE(d);
  EXPECT_FALSE(d->only_nan_payloads) << "Inf is no NaN";
}

TEST(CompareBytes, CountsUlpsOfTheFirstDifference) {
  const auto a = fp32({1, 0x3f800000, 7}), b = fp32({1, 0x3f7ffffd, 9});
  const auto d = compare_bytes(DType::kFloat32, a, b);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->first, 1);
  EXPECT_EQ(d->ulps, 3);
  EXPECT_EQ(d->differing, 2);
}

TEST(CompareBytes, CountsUlpsAcrossTheWidestGap) {
  const auto a = bytes<std::uint64_t>({0}), b = bytes<std::uint64_t>({0x7fefffffffffffff});
  EXPECT_EQ(compare_bytes(DType::kFloat64, a, b)->ulps, 0x7fefffffffffffff);
}

TEST(CompareBytes, WritesSixteenBitsAsFourDigits) {
  const auto a = bytes<std::uint16_t>({0x3f1c}), b = bytes<std::uint16_t>({0x3f1d});
  const auto d = compare_bytes(DType::kBFloat16, a, b);
  EXPECT_EQ(d->bits_a, "0x3f1c");
  EXPECT_EQ(d->bits_b, "0x3f1d");
  EXPECT_EQ(d->ulps, 1);
}

/// 0, 1, 2, … one byte each, so that an index is its own value.
std::vector<std::byte> counting(int count) {
  std::vector<std::byte> all;
  for (int i = 0; i < count; ++i) all.push_back(static_cast<std::byte>(i));
  return all;
}

std::vector<int> block(const std::vector<std::int64_t>& shape,
                       int axis,
                       const std::vector<std::int64_t>& one,
                       int slot,
                       int size) {
  int total = size;
  for (std::int64_t extent : shape) total *= static_cast<int>(extent);
  std::vector<int> values;
  for (std::byte b : block_of(counting(total), shape, axis, one, slot, size)) {
    values.push_back(static_cast<int>(b));
  }
  return values;
}

TEST(BlockOf, TakesASliceAlongTheFirstAxis) {
  EXPECT_EQ(block({3, 2}, 0, {1, 2}, 1, 2), (std::vector{4, 5, 6, 7}));
}

TEST(BlockOf, TakesASliceAlongAMiddleAxis) {
  EXPECT_EQ(block({2, 3, 2}, 1, {2, 1, 2}, 2, 1), (std::vector{4, 5, 10, 11}));
}

TEST(BlockOf, TakesASliceAlongTheLastAxis) {
  EXPECT_EQ(block({2, 3}, 1, {2, 1}, 0, 2), (std::vector{0, 1, 6, 7}));
}

TEST(BlockOf, TakesAllRowsOfAConcatenatedSample) {
  EXPECT_EQ(block({6, 2}, 0, {3, 2}, 1, 1), (std::vector{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(block({2, 4}, 1, {2, 2}, 1, 1), (std::vector{2, 3, 6, 7}));
}

TEST(BlockOf, IsTheWholeTensorWithoutABatchAxis) {
  EXPECT_EQ(block({2, 2}, -1, {2, 2}, 0, 1), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(block({}, -1, {}, 0, 2), (std::vector{0, 1}));
}

TEST(BlockOf, LeavesOutWhatPaddingAppended) {
  EXPECT_EQ(block({2, 4}, 0, {1, 3}, 1, 1), (std::vector{4, 5, 6}));
  EXPECT_EQ(block({3, 2, 2}, 1, {2, 1, 2}, 1, 1), (std::vector{2, 3, 6, 7}));
  EXPECT_EQ(block({3, 2}, -1, {2, 2}, 0, 2), (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace bic
