// Law `factors`: a product moves by an ulp of a factor at least, far too much to place it beside a
// rounding boundary. Five factors together reach every place: they are searched for.
#include <algorithm>
#include <array>
#include <vector>

#include "generators/boundary.h"
#include "generators/laws.h"

namespace bic {
namespace {

constexpr std::size_t kMoved = 5;
constexpr int kChoices = 64;
/// What each of the five may be: 64 numbers from 1 to 1.5, of all significant bits.
using Choices = std::array<double, kChoices>;

Choices choices_of(DType dtype) {
  Choices choices;
  for (int i = 0; i < kChoices; ++i) {
    const int last_bits = dtype == DType::kFloat16 ? 5 * i % 8 : 0;
    choices[static_cast<std::size_t>(i)] = 1 + 0x1p-10 * (8 * i + last_bits);
  }
  return choices;
}

struct Pair {
  double product, a, b;
};

/// All products of two of them, the smallest first.
std::vector<Pair> pairs_of(const Choices& choices) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (std::size_t j = i; j < choices.size(); ++j) {
      pairs.push_back({choices[i] * choices[j], choices[i], choices[j]});
    }
  }
  std::ranges::sort(pairs, [](const Pair& x, const Pair& y) {
    return x.product != y.product ? x.product < y.product : x.a < y.a;
  });
  return pairs;
}

struct Found {
  std::array<double, kMoved> factors{1, 1, 1, 1, 1};
  double off = 1;  ///< share of the wanted product
};

/// Of `single` and any two pairs, those whose product is nearest to `wanted`, if nearer than
/// `best`.
void search(std::span<const Pair> pairs, double single, double wanted, Found& best) {
  std::size_t low = 0, high = pairs.size() - 1;
  while (low <= high) {
    const Pair &p = pairs[low], &q = pairs[high];
    const double product = p.product * q.product * single;
    const double off = distance(product, wanted) / wanted;
    if (off < best.off) best = {{single, p.a, p.b, q.a, q.b}, off};
    if (product < wanted) {
      ++low;
    } else if (high-- == 0) {
      break;
    }
  }
}

Found factors_for(DType dtype, double wanted) {
  static const std::array<Choices, 2> choices{choices_of(DType::kBFloat16),
                                              choices_of(DType::kFloat16)};
  static const std::array<std::vector<Pair>, 2> pairs{pairs_of(choices[0]), pairs_of(choices[1])};
  const std::size_t which = dtype == DType::kFloat16 ? 1 : 0;
  Found best;
  for (const double single : choices[which]) {
    if (best.off <= kNearEnough) break;
    search(pairs[which], single, wanted, best);
  }
  return best;
}

}  // namespace

void trim_factors(std::span<double> block,
                  std::span<const std::int64_t> row,
                  DType dtype,
                  const std::function<double(std::span<const double>)>& wide_output) {
  if (size_of(dtype) != 2 || row.size() < 2 * kMoved) return;
  const auto elements = row.last(kMoved);
  const std::vector<double> untouched(block.begin(), block.end());
  for (const std::int64_t element : elements) block[static_cast<std::size_t>(element)] = 1;
  const double rest = wide_output(block);
  if (rest == 0 || !(distance(rest, 0) < 0x1p1000)) {
    std::ranges::copy(untouched, block.begin());
    return;
  }
  constexpr double kMiddle = 3;  // of the products of five, in size
  const Found found = factors_for(dtype, boundary_near(dtype, kMiddle * rest, 0) / rest);
  for (std::size_t i = 0; i < kMoved; ++i) {
    const auto at = static_cast<std::size_t>(elements[i]);
    block[at] = untouched[at] < 0 ? -found.factors[i] : found.factors[i];
  }
}

}  // namespace bic
