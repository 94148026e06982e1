// Speed of the bundled kernels on one thread. FLOP/s for gemm, bytes read and written for the rest.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "reference_kernels/cpu/cumsum.h"
#include "reference_kernels/cpu/gelu.h"
#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cpu/layer_norm.h"
#include "reference_kernels/cpu/softmax.h"
#include "reference_kernels/cpu/sum.h"

namespace bic::cpu {
namespace {

using bf16 = hwy::bfloat16_t;
using fp16 = hwy::float16_t;

/// Zeros would do for time, but for exp and denormals: bytes 0x3C make a small normal number in
/// every dtype.
template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> x(count);
  std::memset(static_cast<void*>(x.data()), 0x3C, count * sizeof(T));
  return x;
}

/// Arguments m, k, n, and 1 for weights stored [n, k].
template <class T>
void bm_gemm(benchmark::State& state) {
  const std::int64_t m = state.range(0), k = state.range(1), n = state.range(2);
  const bool nt = state.range(3) == 1;
  const auto a = numbers<T>(m * k), w = numbers<T>(n * k);
  std::vector<T> y(m * n);
  GemmArgs<T> g{a.data(), w.data(), nullptr, y.data(), m, n, k};
  g.a_row = k, g.w_k = nt ? 1 : n, g.w_n = nt ? k : 1, g.y_row = n;
  for (auto _ : state) {
    gemm(g, serial);
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * m * n * k, benchmark::Counter::kIsIterationInvariantRate);
}

void gemm_shapes(benchmark::internal::Benchmark* b) {
  for (const std::int64_t layout : {1, 0}) {
    for (const std::int64_t m : {1, 8, 50, 256}) {
      b->Args({m, 256, 256, layout})->Args({m, 1024, 1024, layout})->Args({m, 4304, 1152, layout});
    }
  }
}
BENCHMARK(bm_gemm<float>)->Apply(gemm_shapes);
BENCHMARK(bm_gemm<double>)->Apply(gemm_shapes);
BENCHMARK(bm_gemm<bf16>)->Apply(gemm_shapes);
BENCHMARK(bm_gemm<fp16>)->Apply(gemm_shapes);

template <class T>
void count_bytes(benchmark::State& state, std::int64_t elements) {
  state.SetBytesProcessed(state.iterations() * elements * sizeof(T));
}

constexpr std::int64_t kRows = 512, kLength = 1024;

/// Argument 0 sums along rows, 1 down columns.
template <class T, SumOf Of = SumOf::kTerms>
void bm_sum(benchmark::State& state) {
  const auto x = numbers<T>(kRows * kLength);
  std::vector<T> y(kLength);
  SumArgs<T> g{x.data(), y.data()};
  g.of = Of;
  if (state.range(0) == 0) {
    g.outer = kRows, g.reduced = kLength, g.x_outer = kLength, g.y_outer = 1;
  } else {
    g.inner = kLength, g.reduced = kRows, g.x_reduced = kLength, g.x_inner = 1;
  }
  for (auto _ : state) sum(g, serial);
  count_bytes<T>(state, kRows * kLength);
}
BENCHMARK(bm_sum<float>)->Arg(0)->Arg(1);
BENCHMARK(bm_sum<double>)->Arg(0)->Arg(1);
BENCHMARK(bm_sum<bf16>)->Arg(0)->Arg(1);
BENCHMARK_TEMPLATE(bm_sum, float, SumOf::kDeviations)->Arg(0)->Arg(1);
BENCHMARK_TEMPLATE(bm_sum, float, SumOf::kFactors)->Arg(0)->Arg(1);

/// Argument 0 for rows, 1 for columns.
template <class T>
void bm_cumsum(benchmark::State& state) {
  const auto x = numbers<T>(kRows * kLength);
  std::vector<T> y(x.size());
  CumsumArgs<T> g{x.data(), y.data()};
  if (state.range(0) == 0) {
    g.outer = kRows, g.reduced = kLength, g.x_outer = g.y_outer = kLength;
  } else {
    g.inner = kLength, g.reduced = kRows, g.x_reduced = g.y_reduced = kLength,
    g.x_inner = g.y_inner = 1;
  }
  for (auto _ : state) cumsum(g, serial);
  count_bytes<T>(state, 2 * kRows * kLength);
}
BENCHMARK(bm_cumsum<float>)->Arg(0)->Arg(1);
BENCHMARK(bm_cumsum<double>)->Arg(0);
BENCHMARK(bm_cumsum<bf16>)->Arg(0)->Arg(1);

/// Argument 0 for rows, 1 for columns.
template <class T>
void bm_softmax(benchmark::State& state) {
  const auto x = numbers<T>(kRows * kLength);
  std::vector<T> y(x.size());
  SoftmaxArgs<T> g{x.data(), y.data()};
  if (state.range(0) == 0) {
    g.outer = kRows, g.reduced = kLength, g.x_outer = g.y_outer = kLength;
  } else {
    g.inner = kLength, g.reduced = kRows, g.x_reduced = g.y_reduced = kLength,
    g.x_inner = g.y_inner = 1;
  }
  for (auto _ : state) softmax(g, serial);
  count_bytes<T>(state, 2 * kRows * kLength);
}
BENCHMARK(bm_softmax<float>)->Arg(0)->Arg(1);
BENCHMARK(bm_softmax<double>)->Arg(0);
BENCHMARK(bm_softmax<bf16>)->Arg(0)->Arg(1);

template <class T>
void bm_layer_norm(benchmark::State& state) {
  const auto x = numbers<T>(kRows * kLength), w = numbers<T>(kLength);
  std::vector<T> y(x.size());
  LayerNormArgs<T> g{x.data(), w.data(), w.data(), y.data()};
  g.rows = kRows, g.h = kLength, g.x_row = g.y_row = kLength;
  for (auto _ : state) layer_norm(g, serial);
  count_bytes<T>(state, 2 * kRows * kLength);
}
BENCHMARK(bm_layer_norm<float>);
BENCHMARK(bm_layer_norm<double>);
BENCHMARK(bm_layer_norm<bf16>);

/// Argument 0 is erf, 1 tanh.
template <class T>
void bm_gelu(benchmark::State& state) {
  const auto x = numbers<T>(kRows * kLength);
  std::vector<T> y(x.size());
  const GeluForm form = state.range(0) == 0 ? GeluForm::kErf : GeluForm::kTanh;
  for (auto _ : state) gelu(x.data(), y.data(), static_cast<std::int64_t>(x.size()), form, serial);
  count_bytes<T>(state, 2 * kRows * kLength);
}
BENCHMARK(bm_gelu<float>)->Arg(0)->Arg(1);
BENCHMARK(bm_gelu<double>)->Arg(0)->Arg(1);
BENCHMARK(bm_gelu<bf16>)->Arg(0)->Arg(1);

}  // namespace
}  // namespace bic::cpu
