#include "reference_kernels/cpu/convolution.h"

#include <algorithm>
#include <memory>

#include "reference_kernels/cpu/gemm_bf16_dot.h"
#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/convolution.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/convolution_planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// No bit depends on these: bytes of filters that stay in L2 while the outputs pass by, filters for
// which a copy of their inputs pays, and pieces from which on threads take one each.
inline constexpr std::int64_t kFilterBytes = 256 << 10, kManyFilters = 16, kManyPieces = 8;

struct ConvolutionPlanes;
struct ConvolutionVector;

/// A convolution on its way: its filters in words, its piece laid out.
template <class Op>
struct ConvolutionJob {
  const ConvolutionArgs<typename Op::In>& g;
  const ConvolutionLayout& layout;
  const typename Op::Word* filters;
  ConvolutionPiece piece;
  const StoredTerm<Op>* planes;
  std::int64_t outputs() const { return g.h.out * g.w.out; }
  std::int64_t terms() const { return g.channels * g.h.taps * g.w.taps; }
  std::int64_t words() const { return (terms() + Op::kTerms - 1) / Op::kTerms; }
  std::int64_t filters_at_a_time() const {
    const auto bytes = words() * static_cast<std::int64_t>(sizeof(typename Op::Word));
    return std::max<std::int64_t>(1, kFilterBytes / bytes / kSumRows) * kSumRows;
  }
};

/// Filters f .. f + Rows of all groups' at one vector of outputs, scattered to y.
template <int Rows, class Op, class Places>
HWY_NOINLINE void filter_tile(const ConvolutionJob<Op>& job,
                              const SumOperands<Op, Places>& o,
                              std::int64_t f,
                              std::size_t vector) {
  using T = typename Op::In;
  const Wide<typename Op::Word> d;
  constexpr std::int64_t kVector = kWideLanes<typename Op::Word>;
  const ConvolutionArgs<T>& g = job.g;
  T all[Rows * kVector];
  GemmArgs<T> last_steps;
  last_steps.y = all, last_steps.y_row = kVector;
  last_steps.bias = g.bias == nullptr ? nullptr : g.bias + f;
  last_steps.bias_row = 1, last_steps.bias_n = 0;
  RowSums<Rows, Op> sum;
  column_sums<Rows, Op>(o, sum);
  for_each<Rows>([&](auto r) BIC_INLINED { finish(d, sum[r], last_steps, r, 0, kVector); });
  const std::int64_t outputs = job.outputs(), image = g.groups * g.n * outputs;
  T* y = g.y + job.piece.image * image + f * outputs + job.piece.row * g.w.out;
  for (std::size_t i = job.layout.first_run[vector]; i < job.layout.first_run[vector + 1]; ++i) {
    const OutputRun& run = job.layout.runs[i];
    if (run.row >= job.piece.rows || run.image >= job.piece.images) continue;
    T* to = y + run.image * image + run.row * g.w.out + run.col;
    for (int r = 0; r < Rows; ++r, to += outputs) {
      for (std::int64_t q = 0; q < run.count; ++q) to[q] = all[r * kVector + run.lane + q];
    }
  }
}

/// Filters f0 .. f1, the first of them at o.a, at one vector of outputs.
template <class Op, class Places>
void run_filters(const ConvolutionJob<Op>& job,
                 SumOperands<Op, Places> o,
                 std::int64_t f0,
                 std::int64_t f1,
                 std::size_t vector) {
  for (; f0 + kSumRows <= f1; f0 += kSumRows, o.a += kSumRows * o.a_row) {
    filter_tile<kSumRows>(job, o, f0, vector);
  }
  for (; f0 < f1; ++f0, o.a += o.a_row) filter_tile<1>(job, o, f0, vector);
}

/// Filters f0 .. f1 of a group: with inputs from where they stand or, for many filters and where
/// words have to be made, from a copy without gaps.
template <class Op>
void run_vector(const ConvolutionJob<Op>& job,
                std::int64_t group,
                std::int64_t f0,
                std::int64_t f1,
                std::size_t vector) {
  using Word = typename Op::Word;
  const Wide<Word> d;
  constexpr std::int64_t kVector = kWideLanes<Word>;
  const std::int64_t terms = job.terms(), words = job.words(), first = group * job.g.n;
  const Word* filters = job.filters + (first + f0) * words;
  const StoredTerm<Op>* inputs =
      job.planes + group * job.g.channels * job.layout.channel + job.layout.vectors[vector];
  const std::int64_t* places = job.layout.terms.data();
  if constexpr (Op::kTerms == 1) {
    if (f1 - f0 < kManyFilters) {
      const SumOperands<Op, ListedPlaces> o{filters, words, 1, inputs, places, words};
      return run_filters(job, o, first + f0, first + f1, vector);
    }
  }
  Word* copy = scratch<ConvolutionVector, Word>(words * kVector);
  for (std::int64_t k = 0; k < terms; k += Op::kTerms) {
    const StoredTerm<Op>* x = inputs + places[k];
    typename Op::V word;
    if constexpr (Op::kTerms == 1) {
      word = hn::LoadU(d, x);
    } else {
      const bool whole = k + 1 < terms;
      word = whole ? Op::load_columns(x, places[k + 1] - places[k]) : Op::load_last_columns(x);
    }
    hn::Store(word, d, copy + k / Op::kTerms * kVector);
  }
  const SumOperands<Op, EvenPlaces> o{filters, words, 1, copy, {kVector}, words};
  run_filters(job, o, first + f0, first + f1, vector);
}

template <class Op>
void run_piece(ConvolutionJob<Op> job, const ParallelFor& parallel) {
  const auto& g = job.g;
  const std::int64_t channels = g.groups * g.channels, inputs = channels * job.layout.channel;
  // The last vectors reach beyond what is there.
  auto* planes = scratch<ConvolutionPlanes, StoredTerm<Op>>(inputs + kSumLanes);
  job.planes = planes;
  const std::int64_t outputs = job.piece.images * job.piece.rows * g.w.out * g.groups * g.n;
  const std::int64_t work = outputs * job.terms();
  run_tasks(parallel, channels, std::min(inputs, work), [&](auto begin, auto end) {
    fill_planes(g, job.layout, job.piece, begin, end, planes);
  });
  const std::int64_t most = job.filters_at_a_time(), blocks = (g.n + most - 1) / most;
  const auto vectors = static_cast<std::int64_t>(job.layout.vectors.size());
  const std::int64_t items = g.groups * blocks * vectors;
  const std::int64_t each = items_per_task(items, work / items);
  run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
    for (std::int64_t t = begin * each; t < std::min(items, end * each); ++t) {
      const std::int64_t block = t / vectors, f0 = block % blocks * most;
      run_vector(job, block / blocks, f0, std::min(g.n, f0 + most), t % vectors);
    }
  });
}

/// The filters in words: where they stand, or in `copy`.
template <class Op>
const typename Op::Word* filter_words(const ConvolutionArgs<typename Op::In>& g,
                                      std::unique_ptr<typename Op::Word[]>& copy) {
  using Word = typename Op::Word;
  if constexpr (std::is_same_v<typename Op::In, Word>) {
    return g.filters;
  } else {
    const std::int64_t terms = g.channels * g.h.taps * g.w.taps, rows = g.groups * g.n;
    const std::int64_t words = (terms + Op::kTerms - 1) / Op::kTerms;
    copy = std::make_unique<Word[]>(rows * words);
    for (std::int64_t f = 0; f < rows; ++f) {
      auto* to = reinterpret_cast<StoredTerm<Op>*>(copy.get() + f * words);
      copy_values(g.filters + f * terms, 1, terms, to, 1);
    }
    return copy.get();
  }
}

template <class Op>
void convolution_all(const ConvolutionArgs<typename Op::In>& g, const ParallelFor& parallel) {
  const std::int64_t outputs = g.batch * g.groups * g.n * g.h.out * g.w.out;
  if (outputs <= 0) return;
  const ConvolutionExtents extents{g.batch,
                                   g.groups,
                                   g.channels,
                                   g.n,
                                   g.h,
                                   g.w,
                                   sizeof(StoredTerm<Op>),
                                   kWideLanes<typename Op::Word>};
  const ConvolutionLayout layout(extents);
  std::unique_ptr<typename Op::Word[]> copy;
  const auto* filters = filter_words<Op>(g, copy);
  const auto run = [&](std::int64_t i, const ParallelFor& shared) {
    run_piece(ConvolutionJob<Op>{g, layout, filters, layout.piece(extents, i), nullptr}, shared);
  };
  if (layout.pieces < kManyPieces) {
    for (std::int64_t i = 0; i < layout.pieces; ++i) run(i, parallel);
    return;
  }
  const std::int64_t work = outputs * g.channels * g.h.taps * g.w.taps;
  run_tasks(parallel, layout.pieces, work, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) run(i, serial);
  });
}

void convolution_f32(const ConvolutionArgs<float>& g, const ParallelFor& p) {
  convolution_all<Fused<float>>(g, p);
}
void convolution_f64(const ConvolutionArgs<double>& g, const ParallelFor& p) {
  convolution_all<Fused<double>>(g, p);
}
void convolution_bf16(const ConvolutionArgs<hwy::bfloat16_t>& g, const ParallelFor& p) {
#if HWY_TARGET <= HWY_AVX3
  if (has_bf16_dot()) return convolution_all<PairDot>(g, p);
#endif
  convolution_all<Fused<hwy::bfloat16_t>>(g, p);
}
void convolution_f16(const ConvolutionArgs<hwy::float16_t>& g, const ParallelFor& p) {
  convolution_all<Fused<hwy::float16_t>>(g, p);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(convolution, ConvolutionArgs)
}  // namespace bic::cpu
#endif
