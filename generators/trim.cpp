// Law `edge`: sums of positive terms hardly ever show their order in 16 bits, for a rounding error
// in fp32 matters only where the result lies beside a rounding boundary. So a sample is moved
// there.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "generators/boundary.h"
#include "generators/counter_rng.h"
#include "generators/draws.h"
#include "generators/laws.h"

namespace bic {
namespace {

using WideOutput = std::function<double(std::span<const double>)>;

constexpr std::size_t kRungs = 12;
using Ladder = std::array<double, kRungs>;
/// Values of the elements that are moved, one after the other, each finer than the one before: by
/// size for sums, squares and norms, by exp(value) for softmax and its kin, and both once more for
/// long rows, whose outputs have their boundaries further apart. All have full significands, and
/// most lie where adding them to the row's sum is inexact in fp32: sums of bf16 values of size 1
/// are exact in any order.
constexpr std::array<Ladder, 4> kLadders{{
    {0x1.92cp0,
     0x1.92cp-2,
     0x1.92cp-4,
     0x1.92cp-6,
     0x1.92cp-8,
     0x1.92cp-9,
     0x1.92cp-10,
     0x1.92cp-11,
     0x1.92cp-12,
     0x1.92cp-13,
     0x1.92cp-14,
     0x1.92cp-16},
    {0x1.92cp4,
     0x1.92cp2,
     0x1.92cp0,
     0x1.92cp-2,
     0x1.92cp-4,
     0x1.92cp-5,
     0x1.92cp-6,
     0x1.92cp-7,
     0x1.92cp-8,
     0x1.92cp-9,
     0x1.92cp-10,
     0x1.92cp-12},
    {0.875, -1.125, -2.25, -3.75, -5.25, -6.5, -8.0, -9.5, -10.5, -11.5, -12.5, -13.5},
    {5.375, 3.375, 2.25, 0.75, -0.75, -2.0, -3.5, -5.0, -6.0, -7.0, -8.0, -9.0},
}};
/// Where to aim, in fp32 units beyond the boundary. Long sums of few-bit terms err to one side in
/// every order (the squares of 4096 bf16 values by -2 to -60 units), so that outputs trimmed to the
/// wide value's boundary would round alike: half of the long rows aim up to row / 64 units off, by
/// their own contents.
double aim_of(std::span<const double> block, std::size_t row) {
  constexpr std::size_t kLong = 512;
  if (row < kLong) return 0;
  std::uint64_t bits = 0x9e3779b97f4a7c15;
  for (const double value : block) bits = random_bits(bits, std::bit_cast<std::uint64_t>(value));
  if (bits % 2 == 0) return 0;
  const auto steps = static_cast<std::uint64_t>(std::bit_width(row / 64));
  const double units = static_cast<double>(std::uint64_t{1} << draws::below(bits, steps));
  return (bits >> 63) != 0 ? -units : units;
}

/// One element on its way to the best of the dtype's values near its first.
class Mover {
 public:
  Mover(std::span<double> block, DType dtype, const WideOutput& wide_output, double target)
      : block_(block), dtype_(dtype), wide_output_(wide_output), target_(target) {}

  /// Leaves the nearest output found and returns its distance from the target.
  double move(std::int64_t element) {
    element_ = static_cast<std::size_t>(element);
    start_ = best_ = block_[element_];
    const double y = wide_output_(block_);
    best_distance_ = distance(y, target_);
    const double slope = attempt(1) - y;
    const double wanted = slope == 0 ? 0 : (target_ - y) / slope;
    // A quarter of its size at most, so that the next finer element can still mend the rest.
    const double most = static_cast<double>(std::int64_t{1} << (precision(dtype_) - 3));
    const double steps = std::clamp(wanted == wanted ? wanted : 0, -most, most);
    const auto nearest = static_cast<std::int64_t>(steps < 0 ? steps - 0.5 : steps + 0.5);
    for (const std::int64_t n : {nearest - 1, nearest, nearest + 1}) attempt(n);
    block_[element_] = best_;
    return best_distance_;
  }

 private:
  double attempt(std::int64_t steps) {
    const double moved = start_ + static_cast<double>(steps) * spacing(dtype_, start_);
    block_[element_] = round_to(dtype_, moved);
    const double y = wide_output_(block_);
    if (distance(y, target_) < best_distance_) {
      best_distance_ = distance(y, target_);
      best_ = block_[element_];
    }
    return y;
  }

  std::span<double> block_;
  DType dtype_;
  const WideOutput& wide_output_;
  double target_;
  std::size_t element_ = 0;
  double start_ = 0;
  double best_ = 0;
  double best_distance_ = 0;
};

/// Trims with these values and returns how far from its boundary the output stays, as a share of
/// it.
double trim_with(std::span<double> block,
                 std::span<const std::int64_t> elements,
                 DType dtype,
                 std::span<const double> values,
                 double aim,
                 const WideOutput& wide_output) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    block[static_cast<std::size_t>(elements[i])] = round_to(dtype, values[i]);
  }
  const double y = wide_output(block);
  if (y == 0 || !(distance(y, 0) < 0x1p1000)) return 1;
  const double target = boundary_near(dtype, y, aim);
  Mover mover(block, dtype, wide_output, target);
  double left = distance(y, target);
  for (const std::int64_t element : elements) {
    if (left <= distance(target, 0) * kNearEnough) break;
    left = mover.move(element);
  }
  return left / distance(target, 0);
}

}  // namespace

void trim_to_edge(std::span<double> block,
                  std::span<const std::int64_t> row,
                  DType dtype,
                  const WideOutput& wide_output) {
  if (dtype == DType::kFloat64 || row.size() < 2) return;
  const auto elements = row.last(std::min(kRungs, row.size() / 2));
  const std::vector<double> untouched(block.begin(), block.end());
  std::vector<double> best = untouched;
  const double aim = aim_of(block, row.size());
  double nearest = std::numeric_limits<double>::infinity();
  for (const Ladder& ladder : kLadders) {
    std::copy(untouched.begin(), untouched.end(), block.begin());
    const double left = trim_with(block, elements, dtype, ladder, aim, wide_output);
    if (left < nearest) best.assign(block.begin(), block.end());
    nearest = std::min(nearest, left);
    if (nearest <= kNearEnough) break;
  }
  std::copy(best.begin(), best.end(), block.begin());
}

}  // namespace bic
