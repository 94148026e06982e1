#include "generators/dims.h"

#include <algorithm>
#include <array>

#include "generators/arbitrary.h"
#include "results_schema/error.h"

namespace bic {
namespace {

constexpr std::array<std::int64_t, 22> kBatchSizes{
    1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
constexpr std::int64_t kAlignment = 16;  // elements: whole vectors of every dtype

/// Halves, but keeps odd sizes from turning into powers of two: 4097 becomes 2049.
std::int64_t halved(std::int64_t extent) { return (extent + 1) / 2; }

/// Halves the largest dim that may shrink; false when all are at their lower bounds.
bool shrink_largest(Dims& dims, std::span<const DimRange> ranges) {
  const DimRange* largest = nullptr;
  for (const DimRange& range : ranges) {
    if (dims[range.name] <= range.lo) continue;
    if (largest == nullptr || dims[range.name] > dims[largest->name]) largest = &range;
  }
  if (largest == nullptr) return false;
  dims[largest->name] = std::max(largest->lo, halved(dims[largest->name]));
  return true;
}

}  // namespace

Dims draw_dims(std::span<const DimRange> ranges,
               Seed seed,
               const std::function<bool(const Dims&)>& fits) {
  Dims dims;
  for (const DimRange& range : ranges) {
    const rc::Random random(derive(seed, range.name).value);
    dims[range.name] = extent(range.lo, range.hi)(random, rc::kNominalSize).value();
  }
  while (!fits(dims) && shrink_largest(dims, ranges)) {
  }
  return dims;
}

bool is_aligned(std::int64_t extent) { return extent % kAlignment == 0; }

std::span<const std::int64_t> batch_sizes() { return kBatchSizes; }

std::vector<std::int64_t> positions(std::int64_t batch) {
  std::vector<std::int64_t> places{0, batch / 2, batch - 1};
  for (const std::int64_t edge : {4, 8, 16, 32, 64, 128, 256}) {
    places.push_back(edge - 1);
    places.push_back(edge);
  }
  std::erase_if(places, [=](std::int64_t p) { return p < 0 || p >= batch; });
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

}  // namespace bic
