#include "reference_kernels/cpu/convolution_layout.h"

#include <algorithm>

namespace bic::cpu {
namespace {

constexpr std::int64_t kPlaneBytes = 1 << 20;  // inputs of a piece: they stay in L2

std::int64_t ceil_of(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t last_step(const AxisTaps& taps) { return *std::ranges::max_element(taps.step); }

}  // namespace

AxisTaps::AxisTaps(const ConvolutionAxis& axis) {
  for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
    const std::int64_t at = tap * axis.dilation, phase = at % axis.stride;
    const auto known = std::ranges::find(phases, phase);
    phase_of.push_back(known - phases.begin());
    step.push_back(at / axis.stride);
    if (known == phases.end()) phases.push_back(phase);
  }
}

ConvolutionLayout::ConvolutionLayout(const ConvolutionExtents& e) : h(e.h), w(e.w) {
  pitch = last_step(w) + e.w.out;
  choose_piece(e);
  plane_rows = last_step(h) + rows;
  // Planes an odd number of cache lines apart: at a power of two they would evict one another.
  const std::int64_t line = 64 / e.element;
  plane = (ceil_of(plane_rows * pitch * images, 2 * line) * 2 + 1) * line;
  channel = static_cast<std::int64_t>(h.phases.size() * w.phases.size()) * plane;
  pieces = ceil_of(e.batch, images) * ceil_of(e.h.out, rows);
  place_columns(e);
  place_terms(e);
  place_vectors(e);
}

/// Whether vectors begin anew in every row: what lies between two rows costs more than that.
bool ConvolutionLayout::in_rows(const ConvolutionExtents& e, std::int64_t together) const {
  const std::int64_t through = ceil_of(((rows - 1) * pitch + e.w.out) * together, e.lanes);
  return rows * ceil_of(e.w.out * together, e.lanes) <= through;
}

std::int64_t ConvolutionLayout::vectors_of(const ConvolutionExtents& e,
                                           std::int64_t together) const {
  if (in_rows(e, together)) return rows * ceil_of(e.w.out * together, e.lanes);
  return ceil_of(((rows - 1) * pitch + e.w.out) * together, e.lanes);
}

/// Images side by side where one alone would leave half of the vectors' lanes empty.
void ConvolutionLayout::choose_piece(const ConvolutionExtents& e) {
  rows = e.h.out;
  const std::int64_t together = ceil_of(e.batch, ceil_of(e.batch, e.lanes));
  if (2 * vectors_of(e, together) < together * vectors_of(e, 1)) images = together;
  const auto phases = static_cast<std::int64_t>(h.phases.size() * w.phases.size());
  const std::int64_t row = e.groups * e.channels * phases * pitch * images * e.element;
  rows = std::clamp<std::int64_t>(kPlaneBytes / row - last_step(h), 1, e.h.out);
}

void ConvolutionLayout::place_columns(const ConvolutionExtents& e) {
  for (std::int64_t x = 0; x < e.w.in; ++x) {
    const std::int64_t at = x + e.w.padding, column = at / e.w.stride;
    const auto phase = std::ranges::find(w.phases, at % e.w.stride);
    if (phase == w.phases.end() || column >= pitch) continue;
    columns.emplace_back(x, (phase - w.phases.begin()) * plane + column * images);
  }
}

void ConvolutionLayout::place_terms(const ConvolutionExtents& e) {
  for (std::int64_t c = 0; c < e.channels; ++c) {
    for (std::int64_t u = 0; u < e.h.taps; ++u) {
      for (std::int64_t v = 0; v < e.w.taps; ++v) {
        const auto wide = static_cast<std::int64_t>(w.phases.size());
        const std::int64_t phase = h.phase_of[u] * wide + w.phase_of[v];
        const std::int64_t place = (h.step[u] * pitch + w.step[v]) * images;
        terms.push_back(c * channel + phase * plane + place);
      }
    }
  }
}

void ConvolutionLayout::place_vectors(const ConvolutionExtents& e) {
  const bool anew = in_rows(e, images);
  const std::int64_t length = (anew ? e.w.out : (rows - 1) * pitch + e.w.out) * images;
  for (std::int64_t row = 0; row < (anew ? rows : 1); ++row) {
    for (std::int64_t first = 0; first < length; first += e.lanes) {
      vectors.push_back(row * pitch * images + first);
      first_run.push_back(runs.size());
      for (std::int64_t lane = 0; lane < std::min(e.lanes, length - first); ++lane) {
        const std::int64_t at = vectors.back() + lane, image = at % images;
        const std::int64_t i = at / images / pitch, j = at / images % pitch;
        if (j >= e.w.out) continue;
        const bool joins = images == 1 && runs.size() > first_run.back() && runs.back().row == i;
        if (joins) {
          ++runs.back().count;
        } else {
          runs.push_back({lane, 1, image, i, j});
        }
      }
    }
  }
  first_run.push_back(runs.size());
}

ConvolutionPiece ConvolutionLayout::piece(const ConvolutionExtents& e, std::int64_t i) const {
  const std::int64_t bands = ceil_of(e.h.out, rows);
  const std::int64_t image = i / bands * images, row = i % bands * rows;
  return {image, std::min(images, e.batch - image), row, std::min(rows, e.h.out - row)};
}

}  // namespace bic::cpu
