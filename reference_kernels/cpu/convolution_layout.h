#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "reference_kernels/cpu/convolution.h"

namespace bic::cpu {

/// Where the taps of one axis look: an image is kept as `phases.size()` images, each of every
/// stride-th element, in which the inputs of neighbouring outputs are neighbours.
struct AxisTaps {
  std::vector<std::int64_t> phases;          ///< first elements, those that some tap needs
  std::vector<std::int64_t> phase_of, step;  ///< by tap: its phase's index, its place in there

  explicit AxisTaps(const ConvolutionAxis& axis);
};

/// Outputs that are neighbours in a vector of sums and in y.
struct OutputRun {
  std::int64_t lane, count;
  std::int64_t image, row, col;  ///< of the first, in the piece
};

/// What is computed together: whole images, or some rows of one.
struct ConvolutionPiece {
  std::int64_t image, images, row, rows;
};

/// The extents of a convolution, and those of an element and a vector of its sums.
struct ConvolutionExtents {
  std::int64_t batch, groups, channels, n;
  ConvolutionAxis h, w;
  std::int64_t element, lanes;
};

/// How the inputs of a piece are laid out, [channel][phase of h, w][row][column][image], so that
/// each term of a vector of outputs is a vector in memory. No bit depends on it.
struct ConvolutionLayout {
  AxisTaps h, w;
  std::int64_t images = 1, rows = 1;       ///< of a piece, at most
  std::int64_t plane_rows = 0, pitch = 0;  ///< rows of a plane; columns of a row
  std::int64_t plane = 0, channel = 0;     ///< elements of a phase, of a channel
  std::int64_t pieces = 0;
  /// Of image rows with gaps between the inputs of neighbouring outputs: which element goes where.
  std::vector<std::pair<std::int64_t, std::int64_t>> columns;
  std::vector<std::int64_t> terms;     ///< by term of a sum: its place for the first output
  std::vector<std::int64_t> vectors;   ///< by vector of outputs: its place
  std::vector<std::size_t> first_run;  ///< by vector: in `runs`; and their number
  std::vector<OutputRun> runs;

  explicit ConvolutionLayout(const ConvolutionExtents& e);
  ConvolutionPiece piece(const ConvolutionExtents& e, std::int64_t i) const;

 private:
  bool in_rows(const ConvolutionExtents& e, std::int64_t images) const;
  std::int64_t vectors_of(const ConvolutionExtents& e, std::int64_t images) const;
  void choose_piece(const ConvolutionExtents& e);
  void place_columns(const ConvolutionExtents& e);
  void place_terms(const ConvolutionExtents& e);
  void place_vectors(const ConvolutionExtents& e);
};

}  // namespace bic::cpu
