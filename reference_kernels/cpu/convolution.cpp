#include "reference_kernels/cpu/convolution.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cpu/tasks.h"

namespace bic::cpu {
namespace {

// No bit depends on these: columns that make full tiles of gemm, bytes of columns kept at a time,
// and pieces from which on threads take one each instead of sharing one.
constexpr std::int64_t kFullTiles = 192, kColumnBytes = 2 << 20, kManyPieces = 8;

/// What is turned into columns at a time: whole images, or some rows of one.
struct Piece {
  std::int64_t image, images, row, rows;
};

template <class T>
class Pieces {
 public:
  explicit Pieces(const ConvolutionArgs<T>& g) : g_(g) {
    const std::int64_t outputs = g.h.out * g.w.out;
    const std::int64_t terms = g.groups * g.channels * g.h.taps * g.w.taps;
    const std::int64_t fit =
        std::max<std::int64_t>(1, kColumnBytes / (terms * static_cast<std::int64_t>(sizeof(T))));
    rows_ = std::clamp<std::int64_t>(fit / g.w.out, 1, g.h.out);
    if (rows_ == g.h.out && outputs < kFullTiles / 2) {
      images_ = std::clamp<std::int64_t>(std::min(fit, kFullTiles) / outputs, 1, g.batch);
    }
    per_image_ = (g.h.out + rows_ - 1) / rows_;
  }

  std::int64_t count() const { return (g_.batch + images_ - 1) / images_ * per_image_; }

  Piece operator[](std::int64_t i) const {
    const std::int64_t image = i / per_image_ * images_, row = i % per_image_ * rows_;
    return {image, std::min(images_, g_.batch - image), row, std::min(rows_, g_.h.out - row)};
  }

 private:
  const ConvolutionArgs<T>& g_;
  std::int64_t rows_ = 1, images_ = 1, per_image_ = 1;
};

/// One channel of an image, zeros around it: where it stands if it needs none, else a copy.
template <class T>
struct Plane {
  const T* first;
  std::int64_t pitch;
};

template <class T>
Plane<T> plane_of(const ConvolutionArgs<T>& g, const T* channel, std::vector<T>& copy) {
  if (g.h.padding == 0 && g.w.padding == 0 && g.x_w == 1) return {channel, g.x_h};
  const std::int64_t pitch = g.w.in + 2 * g.w.padding, rows = g.h.in + 2 * g.h.padding;
  if (copy.empty()) copy.assign(pitch * rows, T());
  for (std::int64_t i = 0; i < g.h.in; ++i) {
    T* to = copy.data() + (i + g.h.padding) * pitch + g.w.padding;
    for (std::int64_t j = 0; j < g.w.in; ++j) to[j] = channel[i * g.x_h + j * g.x_w];
  }
  return {copy.data(), pitch};
}

/// out[i][j] = from[i * step_h + j * step_w]. Short rows go by `places`, made when first needed.
template <class T>
void copy_tap(const T* from,
              std::int64_t step_h,
              std::int64_t step_w,
              std::int64_t rows,
              std::int64_t cols,
              std::vector<std::int32_t>& places,
              T* out) {
  constexpr std::int64_t kLongRow = 32;
  if (step_w == 1 && cols >= kLongRow) {
    for (std::int64_t i = 0; i < rows; ++i) {
      std::memcpy(static_cast<void*>(out + i * cols), from + i * step_h, cols * sizeof(T));
    }
    return;
  }
  for (std::int64_t o = places.size(); o < rows * cols; ++o) {
    places.push_back(static_cast<std::int32_t>(o / cols * step_h + o % cols * step_w));
  }
  const std::int32_t* place = places.data();
  for (std::int64_t o = 0; o < rows * cols; ++o) out[o] = from[place[o]];
}

/// The rows of columns that channels begin .. end of a piece make: [channel][tap][image][output].
template <class T>
void copy_channels(const ConvolutionArgs<T>& g,
                   const Piece& piece,
                   std::int64_t begin,
                   std::int64_t end,
                   T* columns) {
  const std::int64_t part = piece.rows * g.w.out, width = piece.images * part;
  std::vector<T> copy;
  std::vector<std::int32_t> places;
  for (std::int64_t c = begin; c < end; ++c) {
    for (std::int64_t b = 0; b < piece.images; ++b) {
      const T* channel = g.x + (piece.image + b) * g.x_batch + c * g.x_channel;
      const Plane<T> plane = plane_of(g, channel, copy);
      const T* first = plane.first + piece.row * g.h.stride * plane.pitch;
      T* to = columns + c * g.h.taps * g.w.taps * width + b * part;
      for (std::int64_t u = 0; u < g.h.taps; ++u) {
        for (std::int64_t v = 0; v < g.w.taps; ++v, to += width) {
          const T* from = first + u * g.h.dilation * plane.pitch + v * g.w.dilation;
          copy_tap(from, g.h.stride * plane.pitch, g.w.stride, piece.rows, g.w.out, places, to);
        }
      }
    }
  }
}

/// The product of all groups' filters with `columns`, [group][term][width], to y [group * n] rows.
template <class T>
void multiply(const ConvolutionArgs<T>& g,
              const T* columns,
              std::int64_t width,
              T* y,
              std::int64_t y_row,
              const ParallelFor& parallel) {
  GemmArgs<T> m;
  m.m = g.n, m.n = width, m.k = g.channels * g.h.taps * g.w.taps, m.batch = g.groups;
  m.a = g.filters, m.a_row = m.k, m.a_batch = g.n * m.k;
  m.w = columns, m.w_k = width, m.w_n = 1, m.w_batch = m.k * width;
  m.bias = g.bias, m.bias_batch = g.n, m.bias_row = 1, m.bias_n = 0;
  m.y = y, m.y_row = y_row, m.y_batch = g.n * y_row;
  gemm(m, parallel);
}

template <class T>
void run_piece(const ConvolutionArgs<T>& g, const Piece& piece, const ParallelFor& parallel) {
  const std::int64_t outputs = g.h.out * g.w.out, filters = g.groups * g.n;
  const std::int64_t part = piece.rows * g.w.out, width = piece.images * part;
  const std::int64_t channels = g.groups * g.channels, channel_size = g.h.taps * g.w.taps * width;
  const auto columns = std::make_unique_for_overwrite<T[]>(channels * channel_size);
  run_tasks(parallel, channels, channels * channel_size, [&](std::int64_t begin, std::int64_t end) {
    copy_channels(g, piece, begin, end, columns.get());
  });
  T* y = g.y + piece.image * filters * outputs + piece.row * g.w.out;
  if (piece.images == 1) return multiply(g, columns.get(), width, y, outputs, parallel);
  const auto together = std::make_unique_for_overwrite<T[]>(filters * width);
  multiply(g, columns.get(), width, together.get(), width, parallel);
  for (std::int64_t b = 0; b < piece.images; ++b) {
    for (std::int64_t o = 0; o < filters; ++o, y += outputs) {
      const T* from = together.get() + o * width + b * outputs;
      std::memcpy(static_cast<void*>(y), from, outputs * sizeof(T));
    }
  }
}

}  // namespace

template <class T>
void convolution(const ConvolutionArgs<T>& g, const ParallelFor& parallel) {
  const std::int64_t outputs = g.batch * g.groups * g.n * g.h.out * g.w.out;
  if (outputs <= 0) return;
  const Pieces<T> pieces(g);
  if (pieces.count() < kManyPieces) {
    for (std::int64_t i = 0; i < pieces.count(); ++i) run_piece(g, pieces[i], parallel);
    return;
  }
  const std::int64_t work = outputs * g.channels * g.h.taps * g.w.taps;
  run_tasks(parallel, pieces.count(), work, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) run_piece(g, pieces[i], serial);
  });
}

template void convolution(const ConvolutionArgs<float>&, const ParallelFor&);
template void convolution(const ConvolutionArgs<double>&, const ParallelFor&);
template void convolution(const ConvolutionArgs<hwy::bfloat16_t>&, const ParallelFor&);
template void convolution(const ConvolutionArgs<hwy::float16_t>&, const ParallelFor&);

}  // namespace bic::cpu
