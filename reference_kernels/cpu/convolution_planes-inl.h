// The inputs of a convolution as convolution_layout.h places them, widened, zeros beside the image.
// Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_CONVOLUTION_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_CONVOLUTION_PLANES_INL_H_
#undef BIC_CPU_CONVOLUTION_PLANES_INL_H_
#else
#define BIC_CPU_CONVOLUTION_PLANES_INL_H_
#endif

#include "reference_kernels/cpu/column_sums-inl.h"
#include "reference_kernels/cpu/convolution_layout.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// The elements of one image row that some output needs; zeros beside it are there already.
template <class T, class To>
void fill_row(const ConvolutionArgs<T>& g,
              const ConvolutionLayout& layout,
              const T* source,
              To* to) {
  if (g.w.stride == 1) {
    const std::int64_t count = std::min(g.w.in, layout.pitch - g.w.padding);
    return copy_values(source, g.x_w, count, to + g.w.padding * layout.images, layout.images);
  }
  for (const auto& [from, place] : layout.columns) {
    to[place] = as_stored<To>(source[from * g.x_w]);
  }
}

/// Channels begin .. end of the piece's images.
template <class T, class To>
void fill_planes(const ConvolutionArgs<T>& g,
                 const ConvolutionLayout& layout,
                 const ConvolutionPiece& piece,
                 std::int64_t begin,
                 std::int64_t end,
                 To* planes) {
  const std::int64_t rows = layout.plane_rows - (layout.rows - piece.rows);
  const auto phases = static_cast<std::int64_t>(layout.h.phases.size());
  for (std::int64_t c = begin; c < end; ++c) {
    To* channel = planes + c * layout.channel;
    if (g.h.padding > 0 || g.w.padding > 0)
      std::memset(static_cast<void*>(channel), 0, layout.channel * sizeof(To));
    for (std::int64_t at = 0; at < phases * rows; ++at) {
      const std::int64_t phase = at / rows, r = at % rows;
      const std::int64_t y = (piece.row + r) * g.h.stride + layout.h.phases[phase] - g.h.padding;
      if (y < 0 || y >= g.h.in) continue;
      const T* source = g.x + piece.image * g.x_batch + c * g.x_channel + y * g.x_h;
      To* to = channel + phase * layout.channel / phases + r * layout.pitch * layout.images;
      for (std::int64_t b = 0; b < piece.images; ++b) {
        fill_row(g, layout, source + b * g.x_batch, to + b);
      }
    }
  }
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
