// Sums as tensor cores make them: blocks of exact products and the sum so far are aligned to the
// largest of them, with two bits more than a float has, added exactly, and truncated.
#include <algorithm>

#include "reference_kernels/oracle/honest_op.h"
#include "reference_kernels/oracle/honest_sums.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

constexpr int kExtraBits = 2;

/// x towards 0, to multiples of 2^lowest.
double truncate(double x, int lowest) {
  return std::ldexp(std::trunc(std::ldexp(x, -lowest)), lowest);
}

int exponent_of(double x) { return x == 0 ? -1000 : std::ilogb(x); }

/// To `bits` significant bits.
double truncate_to_bits(double x, int bits) { return truncate(x, exponent_of(x) + 1 - bits); }

/// The block's terms and the sum so far.
double add_block(std::span<const double> terms, double sum, int bits) {
  int largest = exponent_of(sum);
  for (const double t : terms) largest = std::max(largest, exponent_of(t));
  const int lowest = std::max(largest + 1 - bits - kExtraBits, -149 - kExtraBits);
  double all = truncate(sum, lowest);
  for (const double t : terms) all += truncate(t, lowest);
  return truncate_to_bits(all, bits);
}

double tensor_core_sum(Rng& rng, std::vector<double> terms, int bits) {
  std::shuffle(terms.begin(), terms.end(), rng);
  const std::size_t block = std::size_t{4} << (rng() % 3);
  double sum = 0;
  for (std::size_t i = 0; i < terms.size(); i += block) {
    sum = add_block(std::span(terms).subspan(i, std::min(block, terms.size() - i)), sum, bits);
  }
  return sum;
}

/// x[1,k] by w[k,n], and a bias that is added and rounded after it.
std::vector<float> tensor_core_product(Rng& rng, const Sample& s) {
  const std::int64_t k = s.dims.at("k"), n = s.dims.at("n");
  std::vector<float> y;
  for (std::int64_t j = 0; j < n; ++j) {
    std::vector<double> terms;
    for (std::int64_t i = 0; i < k; ++i) terms.push_back(s.values[0][i] * s.values[1][i * n + j]);
    const auto sum = static_cast<float>(tensor_core_sum(rng, terms, precision(DType::kFloat32)));
    y.push_back(s.values.size() > 2 ? sum + static_cast<float>(s.values[2][j]) : sum);
  }
  return y;
}

/// Its products are exact in double: of 16-bit data only. Values of one size, so that nothing lies
/// below a float's range.
Sample draw_product(Rng& rng, bool bias) {
  constexpr DType kType = DType::kBFloat16;
  const std::int64_t k = 1 + static_cast<std::int64_t>(rng() % 70), n = 8;
  const Kind kinds[] = {Kind::kNormal, Kind::kWide, Kind::kCancelling, Kind::kOffset};
  const Kind kind = kinds[rng() % std::size(kinds)];
  Sample s{{draw_many(rng, kind, kType, k), draw_many(rng, kind, kType, k * n)},
           {{"k", k}, {"n", n}},
           {}};
  if (bias) s.values.push_back(draw_many(rng, kind, kType, n));
  return s;
}

}  // namespace

std::vector<HonestOp> honest_tensor_cores() {
  std::vector<HonestOp> all;
  for (const bool bias : {false, true}) {
    all.push_back({bias ? "tensor_core_bias" : "tensor_core",
                   matmul_reference(),
                   {.form = "tensor-core"},
                   [bias](Rng& r, DType) { return draw_product(r, bias); },
                   tensor_core_product,
                   {}});
  }
  return all;
}

}  // namespace bic::testing_support
