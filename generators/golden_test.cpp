// Data are the same bytes on every machine: their digests are committed. After a change that is
// meant to change them, write the file anew from the repository's root with
//   BIC_WRITE_GOLDEN=generators/golden_digests.txt <build>/bin/generators_test
//   --gtest_filter='Golden*'
// and say in the commit why the data changed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>

#include "generators/laws.h"
#include "generators/test_blocks.h"

namespace bic {
namespace {

using testing_blocks::bytes_of;

/// FNV-1a, 64 bits: xor the byte, times the prime.
std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte b : bytes) {
    hash ^= std::to_integer<std::uint64_t>(b);
    hash *= 0x100000001b3;
  }
  return hash;
}

/// Both operands of a small matmul and a bias, two samples of each; odd sizes, more than one chunk.
std::uint64_t digest_of(DType dtype, Law law) {
  const FillProblem problem{
      dtype,
      law,
      Seed{0x5eed},
      {{"x", {3, 257}, {1}, false}, {"w", {257, 5}, {0}, true}, {"bias", {5}, {}, true}}};
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    for (const std::uint32_t id : {0U, 77U}) {
      const auto bytes = bytes_of(problem, i, SampleId{id});
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
  }
  return digest(all);
}

/// The sum of squares, or the product.
double wide_output(Law law, std::span<const double> x) {
  double sum = 0, product = 1;
  for (const double v : x) sum += v * v, product *= v;
  return law == Law::kFactors ? product : sum;
}

/// Rows trimmed for one of those: every step is + - x /.
std::uint64_t digest_of_trimmed(DType dtype, Law law, std::int64_t length) {
  std::vector<std::byte> all;
  std::vector<std::int64_t> row(static_cast<std::size_t>(length));
  std::iota(row.begin(), row.end(), 0);
  for (std::uint32_t s = 0; s < 8; ++s) {
    auto block = testing_blocks::values_of(testing_blocks::row(dtype, law, length), 0, SampleId{s});
    const auto output = [law](std::span<const double> x) { return wide_output(law, x); };
    trim(law, block, row, dtype, output);
    std::vector<std::byte> bytes(2 * block.size());
    narrow(dtype, block, bytes);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return digest(all);
}

void write_line(std::ostream& out,
                std::string_view law,
                std::string_view dtype,
                std::uint64_t hash) {
  out << law << ' ' << dtype << ' ' << to_string(Seed{hash}) << '\n';  // sixteen hex digits
}

std::string digests() {
  std::ostringstream out;
  for (const Law law : {Law::kNormal,
                        Law::kUniform,
                        Law::kCancel,
                        Law::kEdge,
                        Law::kFactors,
                        Law::kWide,
                        Law::kOutlier,
                        Law::kLinspace,
                        Law::kOnes,
                        Law::kIntegers,
                        Law::kRamp,
                        Law::kMasks,
                        Law::kSweep,
                        Law::kSpecial,
                        Law::kNan,
                        Law::kInf,
                        Law::kDenormal,
                        Law::kHuge}) {
    for (const DType dtype : kAllDTypes)
      write_line(out, name(law), name(dtype), digest_of(dtype, law));
  }
  write_line(out, "trimmed", "bf16", digest_of_trimmed(DType::kBFloat16, Law::kEdge, 257));
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    write_line(out, "trimmed_factors", name(dtype), digest_of_trimmed(dtype, Law::kFactors, 77));
  }
  return out.str();
}

TEST(Golden, DigestsAreThoseCommitted) {
  if (const char* path = std::getenv("BIC_WRITE_GOLDEN")) std::ofstream(path) << digests();
  std::ifstream file(BIC_GOLDEN_DIGESTS);
  std::stringstream committed;
  committed << file.rdbuf();
  EXPECT_EQ(digests(), committed.str());
}

TEST(Golden, OneFlippedBitChangesTheDigest) {
  std::vector<std::byte> bytes(100);
  const std::uint64_t before = digest(bytes);
  bytes[50] ^= std::byte{1};
  EXPECT_NE(digest(bytes), before);
}

}  // namespace
}  // namespace bic
