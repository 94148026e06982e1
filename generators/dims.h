#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "results_schema/vocabulary.h"

namespace bic {

/// Bounds of one symbolic dim. `contracted` dims are at least as long as the control needs to see.
struct DimRange {
  std::string name;
  std::int64_t lo = 1;
  std::int64_t hi = 1;
};

/// One extent for each range, independent of the others: clustered on and beside powers of two,
/// tile edges and vector widths, where kernels change their split, with 1, primes and unaligned
/// sizes most of the time. A function of its arguments. While `fits` refuses, the dim that is
/// largest above its lower bound is halved; what it refuses with all dims at their lower bounds is
/// returned all the same. Throws UsageError when a range is empty or starts below 1.
Dims draw_dims(std::span<const DimRange> ranges,
               Seed seed,
               const std::function<bool(const Dims&)>& fits);

/// Whether kernels may take their fast path: a multiple of 16.
bool is_aligned(std::int64_t extent);

/// Batch sizes on and beside those at which kernels change tile, split or algorithm; ascending.
std::span<const std::int64_t> batch_sizes();

/// Places of a sample in a batch at which kernels treat it differently: first, middle, last and
/// both sides of tile edges; ascending, without repeats. Empty when `batch` is below 1.
std::vector<std::int64_t> positions(std::int64_t batch);

}  // namespace bic
