#include "reference_kernels/cpu/cumsum.h"

#include <algorithm>

#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/cumsum.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Type of the running sums.
template <class T>
using Running = std::conditional_t<sizeof(T) == 2, float, double>;

/// Elements that are converted together: whole vectors.
inline constexpr std::int64_t kChunk = 128;
/// Rows that are scanned together: as many chains of additions at a time.
inline constexpr int kRows = 4;
/// Fewer columns are scanned as rows.
inline constexpr std::int64_t kFewColumns = 16;

template <class T>
struct Chunk {
  alignas(64) T narrow[kChunk];
  alignas(64) Running<T> wide[kChunk];
};

template <class D, class T>
HWY_INLINE hn::Vec<D> load_running(D d, const T* p) {
  if constexpr (std::is_same_v<T, float>) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p));
  } else {
    return load_wide(d, p);
  }
}

template <class D, class T>
HWY_INLINE void store_running(D d, hn::Vec<D> v, T* p) {
  if constexpr (std::is_same_v<T, float>) {
    const hn::Rebind<float, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, canonical(d, v)), narrow, p);
  } else {
    store_rounded(d, v, p);
  }
}

template <class T>
void load(const T* x, std::int64_t stride, std::int64_t n, Chunk<T>& chunk) {
  const Wide<Running<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Running<T>>;
  // Whole vectors from where they are, what is left from a copy.
  const std::int64_t whole = stride == 1 ? n / kLanes * kLanes : 0;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    hn::Store(load_running(d, x + i), d, chunk.wide + i);
  }
  for (std::int64_t i = whole; i < n; ++i) chunk.narrow[i] = x[i * stride];
  const std::int64_t end = (n + kLanes - 1) / kLanes * kLanes;
  std::fill(chunk.narrow + n, chunk.narrow + end, T());
  for (std::int64_t i = whole; i < n; i += kLanes) {
    hn::Store(load_running(d, chunk.narrow + i), d, chunk.wide + i);
  }
}

template <class T>
void store(Chunk<T>& chunk, std::int64_t stride, std::int64_t n, T* y) {
  const Wide<Running<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Running<T>>;
  const std::int64_t whole = stride == 1 ? n / kLanes * kLanes : 0;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    store_running(d, hn::Load(d, chunk.wide + i), y + i);
  }
  for (std::int64_t i = whole; i < n; i += kLanes) {
    store_running(d, hn::Load(d, chunk.wide + i), chunk.narrow + i);
  }
  for (std::int64_t i = whole; i < n; ++i) y[i * stride] = chunk.narrow[i];
}

/// Rows begin, ..., count <= kRows of them; row r is [r / inner, r % inner].
template <class T>
void scan_rows(const CumsumArgs<T>& g, std::int64_t begin, std::int64_t count) {
  Chunk<T> chunk[kRows];
  Running<T> sum[kRows] = {};
  const T* x[kRows];
  T* y[kRows];
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t o = (begin + r) / g.inner, j = (begin + r) % g.inner;
    x[r] = g.x + o * g.x_outer + j * g.x_inner;
    y[r] = g.y + o * g.y_outer + j * g.y_inner;
  }
  for (std::int64_t r = count; r < kRows; ++r) std::fill_n(chunk[r].wide, kChunk, Running<T>(0));
  for (std::int64_t first = 0; first < g.reduced; first += kChunk) {
    const std::int64_t n = std::min(kChunk, g.reduced - first);
    for (std::int64_t r = 0; r < count; ++r) {
      load(x[r] + first * g.x_reduced, g.x_reduced, n, chunk[r]);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      for_each<kRows>([&](auto r)
                          BIC_INLINED { chunk[r].wide[i] = sum[r] = sum[r] + chunk[r].wide[i]; });
    }
    for (std::int64_t r = 0; r < count; ++r) {
      store(chunk[r], g.y_reduced, n, y[r] + first * g.y_reduced);
    }
  }
}

/// Columns [o, j .. j + cols), cols <= kChunk: a vector of them at a time.
template <class T>
void scan_columns(const CumsumArgs<T>& g, std::int64_t o, std::int64_t j, std::int64_t cols) {
  const Wide<Running<T>> d;
  Chunk<T> chunk;
  alignas(64) Running<T> sum[kChunk] = {};
  for (std::int64_t i = 0; i < g.reduced; ++i) {
    load(g.x + o * g.x_outer + i * g.x_reduced + j * g.x_inner, g.x_inner, cols, chunk);
    for (std::int64_t c = 0; c < cols; c += kWideLanes<Running<T>>) {
      const auto next = hn::Add(hn::Load(d, sum + c), hn::Load(d, chunk.wide + c));
      hn::Store(next, d, sum + c);
      hn::Store(next, d, chunk.wide + c);
    }
    store(chunk, g.y_inner, cols, g.y + o * g.y_outer + i * g.y_reduced + j * g.y_inner);
  }
}

template <class T>
void cumsum_all(const CumsumArgs<T>& g, const ParallelFor& parallel) {
  const bool rows = g.inner < kFewColumns || g.x_reduced == 1;
  const std::int64_t blocks = rows ? 1 : (g.inner + kChunk - 1) / kChunk;
  const std::int64_t items = rows ? (g.outer * g.inner + kRows - 1) / kRows : g.outer * blocks;
  const std::int64_t size = g.reduced * (rows ? kRows : std::min(g.inner, kChunk));
  const std::int64_t each = items_per_task(items, size);
  const std::int64_t work = g.outer * g.inner * g.reduced;
  run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
    for (std::int64_t i = begin * each; i < std::min(items, end * each); ++i) {
      if (rows) {
        const std::int64_t first = i * kRows;
        scan_rows(g, first, std::min<std::int64_t>(kRows, g.outer * g.inner - first));
      } else {
        const std::int64_t j = i % blocks * kChunk;
        scan_columns(g, i / blocks, j, std::min(kChunk, g.inner - j));
      }
    }
  });
}

void cumsum_f32(const CumsumArgs<float>& g, const ParallelFor& p) { cumsum_all(g, p); }
void cumsum_f64(const CumsumArgs<double>& g, const ParallelFor& p) { cumsum_all(g, p); }
void cumsum_bf16(const CumsumArgs<hwy::bfloat16_t>& g, const ParallelFor& p) { cumsum_all(g, p); }
void cumsum_f16(const CumsumArgs<hwy::float16_t>& g, const ParallelFor& p) { cumsum_all(g, p); }

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(cumsum, CumsumArgs)
}  // namespace bic::cpu
#endif
