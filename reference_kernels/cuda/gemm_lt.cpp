#include "reference_kernels/cuda/gemm_lt.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "reference_kernels/cuda/gemm_lt_class.h"
#include "reference_kernels/cuda/gemm_lt_kernels.h"
#include "reference_kernels/cuda/gemm_paths.h"

namespace bic::cuda {
namespace {

constexpr std::int64_t kGrain = 8;           // elements of 16 bytes, what the algorithms want
constexpr std::int64_t kMostBatch = 32768;   // matrices of one call: a grid has no more
constexpr std::int64_t kMostSums = 1 << 24;  // fp32 sums in scratch at a time

template <class T>
constexpr cudaDataType_t kType = std::is_same_v<T, hwy::bfloat16_t> ? CUDA_R_16BF : CUDA_R_16F;

std::int64_t padded(std::int64_t extent, std::int64_t least) {
  return std::max((extent + kGrain - 1) / kGrain * kGrain, least);
}

bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// Whether the library takes rows and matrices this far apart.
bool strides_fit(std::int64_t batch,
                 std::int64_t rows,
                 std::int64_t cols,
                 std::int64_t batch_stride,
                 std::int64_t row_stride) {
  return (rows == 1 || (row_stride % kGrain == 0 && row_stride >= cols)) &&
         (batch == 1 || (batch_stride % kGrain == 0 && batch_stride >= 0));
}

/// The operands as the library takes them: k, and the columns of w, in whole grains.
template <class T>
struct Fitted {
  cpu::GemmArgs<T> g;
  std::int64_t n = 0;  ///< columns of w; those from g.n on are zeros
  bool nt = true;
};

template <class T>
bool is_nt(const cpu::GemmArgs<T>& g) {
  return g.w_k == 1 || (g.w_n != 1 && std::abs(g.w_k) < std::abs(g.w_n));
}

const std::uint16_t* raw(const void* p) { return static_cast<const std::uint16_t*>(p); }

template <class T>
Strided rows_of_a(const cpu::GemmArgs<T>& g) {
  return {raw(g.a), g.a_batch, g.a_row, g.a_k, g.m, g.k};
}

template <class T>
Strided rows_of_w(const cpu::GemmArgs<T>& g) {
  if (is_nt(g)) return {raw(g.w), g.w_batch, g.w_n, g.w_k, g.n, g.k};
  return {raw(g.w), g.w_batch, g.w_k, g.w_n, g.k, g.n};
}

/// Whether the library takes x for a stack of rows by cols.
bool fits(const Strided& x, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  return x.col == 1 && x.rows == rows && x.cols == cols && aligned(x.data) &&
         strides_fit(batch, rows, cols, x.batch, x.row);
}

/// x itself when it fits, else a dense copy with zeros up to rows and cols.
Strided fit(const Strided& x,
            std::int64_t batch,
            std::int64_t rows,
            std::int64_t cols,
            const Launch& launch) {
  if (fits(x, batch, rows, cols)) return x;
  const std::int64_t copies = x.batch == 0 ? 1 : batch;
  auto* dense =
      static_cast<std::uint16_t*>(launch.scratch(copies * rows * cols * sizeof(std::uint16_t)));
  pack(x, dense, copies, rows, cols, launch.stream);
  return {dense, copies == 1 ? 0 : rows * cols, cols, 1, rows, cols};
}

template <class T>
Fitted<T> fit(const cpu::GemmArgs<T>& args, const Launch& launch) {
  Fitted<T> f{.g = args, .n = padded(args.n, 16), .nt = is_nt(args)};
  cpu::GemmArgs<T>& g = f.g;
  g.k = padded(args.k, kGrain);
  const Strided a = fit(rows_of_a(args), g.batch, g.m, g.k, launch);
  const Strided w = fit(rows_of_w(args), g.batch, f.nt ? f.n : g.k, f.nt ? g.k : f.n, launch);
  g.a = reinterpret_cast<const T*>(a.data), g.a_batch = a.batch, g.a_row = a.row, g.a_k = 1;
  g.w = reinterpret_cast<const T*>(w.data), g.w_batch = w.batch;
  (f.nt ? g.w_n : g.w_k) = w.row, (f.nt ? g.w_k : g.w_n) = 1;
  return f;
}

/// f(part) for parts of at most `rows` rows, which are whole matrices if one has no more.
template <class T, class F>
void for_parts(const Fitted<T>& whole, std::int64_t rows, F f) {
  const cpu::GemmArgs<T>& g = whole.g;
  const std::int64_t tall = std::min(g.m, rows);
  const std::int64_t deep = std::min(std::max<std::int64_t>(rows / g.m, 1), kMostBatch);
  for (std::int64_t b = 0; b < g.batch; b += deep) {
    for (std::int64_t i = 0; i < g.m; i += tall) {
      Fitted<T> part = whole;
      part.g.batch = std::min(deep, g.batch - b), part.g.m = std::min(tall, g.m - i);
      part.g.a += b * g.a_batch + i * g.a_row;
      part.g.w += b * g.w_batch;
      part.g.y += b * g.y_batch + i * g.y_row;
      if (g.bias != nullptr) part.g.bias += b * g.bias_batch + i * g.bias_row;
      f(part);
    }
  }
}

/// Into y, or for CUDA_R_32F into dense sums of all columns of w. Strides that no element needs are
/// written alike: one entry in the table of calls.
template <class T>
LtProblem problem_of(const Fitted<T>& f, const LtForm& form) {
  const cpu::GemmArgs<T>& g = f.g;
  const bool sums = form.out == CUDA_R_32F;
  const std::int64_t n = sums ? f.n : g.n;
  LtProblem p{.form = form, .m = g.m, .n = n, .k = g.k, .batch = g.batch};
  p.a_row = g.m > 1 ? g.a_row : padded(g.k, kGrain);
  p.w_row = f.nt ? g.w_n : g.w_k;
  p.y_row = g.m > 1 && !sums ? g.y_row : n;
  if (g.batch == 1) return p;
  p.a_batch = g.a_batch, p.w_batch = g.w_batch, p.y_batch = sums ? g.m * n : g.y_batch;
  return p;
}

void* workspace(std::size_t bytes, const Launch& launch) {
  return bytes > 0 ? launch.scratch(bytes) : nullptr;
}

void queue(const LtCall& call, const LtOperands& operands, const Launch& launch) {
  check_lt(multiply(LtClass::here().handle(), call, operands, launch.stream), "multiply");
}

/// Whether the library can write y itself, the bias added.
template <class T>
bool is_direct(const cpu::GemmArgs<T>& g) {
  const bool row = g.bias_row == 0 && g.bias_batch == 0 && g.bias_n == 1 && aligned(g.bias) &&
                   g.beta == 1 && g.bias != g.y;
  return g.alpha == 1 && (g.bias == nullptr || row) && aligned(g.y) &&
         strides_fit(g.batch, g.m, g.n, g.y_batch, g.y_row);
}

/// The terms of the chunk at `first`.
template <class T>
Fitted<T> chunk_at(const Fitted<T>& whole, std::int64_t first) {
  Fitted<T> f = whole;
  f.g.a += first, f.g.w += first * f.g.w_k;
  f.g.k = std::min(kNarrowChunk, whole.g.k - first);
  return f;
}

/// False, with nothing queued, when the class lacks a call.
template <class T>
bool sum_chunks(const Fitted<T>& f, float* sums, const Launch& launch) {
  LtClass& lt = LtClass::here();
  const std::int64_t k = f.g.k, last = (k - 1) / kNarrowChunk * kNarrowChunk;
  const auto call_at = [&](std::int64_t first) {
    const LtForm form{
        .in = kType<T>, .out = CUDA_R_32F, .nt = f.nt, .bias = false, .adds = first > 0};
    return lt.find(problem_of(chunk_at(f, first), form), launch.stream);
  };
  const LtCall* const at_first = call_at(0);
  const LtCall* const at_last = last > 0 ? call_at(last) : at_first;
  const LtCall* const between = last > kNarrowChunk ? call_at(kNarrowChunk) : at_first;
  if (!at_first || !at_last || !between) return false;
  void* const space =
      workspace(std::max({at_first->workspace, at_last->workspace, between->workspace}), launch);
  for (std::int64_t first = 0; first < k; first += kNarrowChunk) {
    const Fitted<T> chunk = chunk_at(f, first);
    const LtCall* const call = first == 0 ? at_first : first == last ? at_last : between;
    queue(*call, {chunk.g.a, chunk.g.w, nullptr, sums, space}, launch);
  }
  return true;
}

}  // namespace

template <class T>
bool wgmma_has_our_bits(const Launch& launch) {
  return LtClass::here().serves(kType<T>, launch.stream);
}

template <class T>
bool gemm_lt_directly(const cpu::GemmArgs<T>& g, const Launch& launch) {
  const bool nt = is_nt(g);
  if (g.k == 0 || g.k > kNarrowChunk || g.k % kGrain != 0 || g.n < 16 || g.n % kGrain != 0 ||
      g.batch > kMostBatch || !is_direct(g) || !fits(rows_of_a(g), g.batch, g.m, g.k) ||
      !fits(rows_of_w(g), g.batch, nt ? g.n : g.k, nt ? g.k : g.n)) {
    return false;
  }
  const LtForm form{.in = kType<T>, .out = kType<T>, .nt = nt, .bias = g.bias != nullptr};
  const Fitted<T> f{g, g.n, nt};
  const LtCall* const call = LtClass::here().find(problem_of(f, form), launch.stream);
  if (call == nullptr) return false;
  queue(*call, {g.a, g.w, g.bias, g.y, workspace(call->workspace, launch)}, launch);
  return true;
}

template <class T>
bool gemm_lt_by_sums(const cpu::GemmArgs<T>& args, const Launch& launch) {
  if (args.k == 0 || !LtClass::here().serves(kType<T>, launch.stream)) return false;
  const Fitted<T> whole = fit(args, launch);
  const std::int64_t rows = std::max<std::int64_t>(kMostSums / whole.n, 1);
  const std::int64_t most = std::min(rows, args.batch * args.m);
  auto* sums = static_cast<float*>(launch.scratch(most * whole.n * sizeof(float)));
  for_parts(whole, rows, [&](const Fitted<T>& part) {
    if (sum_chunks(part, sums, launch)) {
      finish(sums, part.n, part.g, launch.stream);
    } else {
      gemm_mma(part.g, launch);
    }
  });
  return true;
}

template bool wgmma_has_our_bits<hwy::bfloat16_t>(const Launch&);
template bool wgmma_has_our_bits<hwy::float16_t>(const Launch&);
template bool gemm_lt_directly(const cpu::GemmArgs<hwy::bfloat16_t>&, const Launch&);
template bool gemm_lt_directly(const cpu::GemmArgs<hwy::float16_t>&, const Launch&);
template bool gemm_lt_by_sums(const cpu::GemmArgs<hwy::bfloat16_t>&, const Launch&);
template bool gemm_lt_by_sums(const cpu::GemmArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda
