#include "reference_kernels/cuda/gemm_lt_sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

#include "reference_kernels/cuda/gemm_lt_kernels.h"
#include "reference_kernels/cuda/gemm_paths.h"

namespace bic::cuda {
namespace {

constexpr std::int64_t kDistinct = LtSampleValues::kDistinct, kZeros = LtSampleValues::kZeros;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("gemm_lt: ") + cudaGetErrorString(error));
  }
}

std::size_t size_of(cudaDataType_t type) { return type == CUDA_R_32F ? 4 : 2; }

/// A number that both 16-bit types hold, as one of them.
std::uint16_t encode(float x, cudaDataType_t in) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (in == CUDA_R_16BF) return static_cast<std::uint16_t>(bits >> 16);
  const std::uint32_t sign = bits >> 16 & 0x8000, exponent = bits >> 23 & 0xFF;
  const std::uint32_t mantissa = bits >> 13 & 0x3FF;
  if (exponent == 0) return static_cast<std::uint16_t>(sign);
  if (exponent == 0xFF) return static_cast<std::uint16_t>(sign | 0x7C00);
  return static_cast<std::uint16_t>(sign | (exponent - 112) << 10 | mantissa);
}

/// +-2^exponent to twice that, in steps that both types hold; the exponent is one of four.
float draw(std::mt19937_64& bits, int exponent) {
  const std::uint64_t r = bits();
  const float size = 128 + static_cast<float>(r & 127);
  const float x = std::ldexp(size, exponent - 7 + static_cast<int>(r >> 7 & 3));
  return r >> 9 & 1 ? -x : x;
}

/// The terms in an order of chance: the first half are pairs, side by side.
std::vector<std::int64_t> pairing(std::int64_t k, std::mt19937_64& bits) {
  std::vector<std::int64_t> order(k);
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = k - 1; i > 0; --i) std::swap(order[i], order[bits() % (i + 1)]);
  return order;
}

/// 2^-100 as bf16, 2^-24 as fp16.
std::uint16_t tiny(cudaDataType_t in) { return in == CUDA_R_16BF ? 0x0D80 : 0x0001; }

/// What all bytes are of an fp32 number that sums are added to.
constexpr int kAddendByte = 0x41;
constexpr float kAddend = std::bit_cast<float>(0x41414141u);

/// The sums of the bytes with kAddend, NaN as the device makes it.
LtBytes added_to(const LtBytes& sums) {
  LtBytes result(sums.size());
  for (std::size_t i = 0; i < sums.size(); i += sizeof(float)) {
    float x;
    std::memcpy(&x, &sums[i], sizeof x);
    x += kAddend;
    if (std::isnan(x)) x = std::bit_cast<float>(0x7FFFFFFFu);
    std::memcpy(&result[i], &x, sizeof x);
  }
  return result;
}

/// + 0.0 to each fp32, as is done to sums before they are used.
void drop_minus_zeros(LtBytes& sums) {
  const std::uint8_t minus_zero[4] = {0, 0, 0, 0x80};
  for (std::size_t i = 0; i < sums.size(); i += 4) {
    if (std::memcmp(&sums[i], minus_zero, 4) == 0) sums[i + 3] = 0;
  }
}

}  // namespace

LtSampleValues::LtSampleValues(cudaDataType_t in, std::int64_t rows, std::int64_t n, std::int64_t k)
    : rows(rows), n(n), k(k) {
  std::mt19937_64 bits(k);
  const std::int64_t length = k + kZeros;
  const auto order = pairing(k, bits);
  a.resize(rows * length), nt.resize(n * length), nn.resize(length * n), bias.resize(n);
  const auto fill = [&](std::vector<std::uint16_t>& out, std::int64_t row, bool cancels) {
    for (std::int64_t p = 0; p < k; ++p) {
      const bool paired = p < k / 2 / 2 * 2, second = p % 2 == 1;
      float x = draw(bits, !cancels ? -1 : paired ? 4 : -7);
      std::uint16_t code = encode(x, in);
      // The second of a pair has the same w and the opposite a.
      if (paired && second) code = out[row * length + order[p - 1]] ^ (cancels ? 0x8000 : 0);
      out[row * length + order[p]] = code;
    }
  };
  for (std::int64_t i = 0; i < std::min(rows, kDistinct); ++i) fill(a, i, true);
  for (std::int64_t j = 0; j < n; ++j) fill(nt, j, false);
  for (std::uint16_t& b : bias) b = encode(draw(bits, -2), in);
  bias[0] = encode(-0.0f, in);
  a[6 * length + 3] = encode(std::numeric_limits<float>::infinity(), in);
  nt[1 * length + 3] = 0;
  std::fill_n(a.begin() + 7 * length, k, encode(-0.0f, in));
  std::fill_n(a.begin() + 8 * length, k, tiny(in) | 0x8000);
  std::fill_n(nt.begin() + 2 * length, k, tiny(in));
  for (std::int64_t i = kDistinct * length; i < rows * length; ++i)
    a[i] = a[i - kDistinct * length];
  for (std::int64_t i = 0; i < n * length; ++i) nn[i % length * n + i / length] = nt[i];
}

LtSample::LtSample(cublasLtHandle_t lt,
                   cudaDataType_t in,
                   const LtSampleValues& values,
                   cudaStream_t stream)
    : lt_(lt),
      in_(in),
      stream_(stream),
      rows_(values.rows),
      n_(values.n),
      k_(values.k),
      a_(copy(values.a)),
      nt_(copy(values.nt)),
      nn_(copy(values.nn)),
      bias_(copy(values.bias)),
      y_(memory(values.rows * values.n * 4)) {
  check(cudaStreamSynchronize(stream_));  // the copies, while the values live
  in == CUDA_R_16BF ? expect<hwy::bfloat16_t>() : expect<hwy::float16_t>();
}

void LtSample::Free::operator()(void* memory) const { cudaFree(memory); }

LtSample::Memory LtSample::memory(std::size_t bytes) const {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes));
  return Memory(memory);
}

LtSample::Memory LtSample::copy(const std::vector<std::uint16_t>& values) const {
  const std::size_t bytes = values.size() * sizeof values[0];
  Memory result = memory(bytes);
  check(cudaMemcpyAsync(result.get(), values.data(), bytes, cudaMemcpyHostToDevice, stream_));
  return result;
}

LtProblem LtSample::problem(const LtForm& form, const Part& part) const {
  const std::int64_t length = k_ + kZeros;
  return {.form = form,
          .m = part.m,
          .n = part.n,
          .k = k_ + part.zeros,
          .batch = part.batch,
          .a_row = length,
          .w_row = form.nt ? length : n_,
          .y_row = part.n,
          .a_batch = part.batch > 1 ? part.m * length : 0,
          .w_batch = 0,
          .y_batch = part.batch > 1 ? part.m * part.n : 0};
}

template <class T>
void LtSample::expect() {
  const std::int64_t length = k_ + kZeros;
  const Launch launch{stream_, nullptr};  // neither kernel wants scratch
  const Memory rounded = memory(kDistinct * n_ * sizeof(T));
  auto* sums = static_cast<float*>(y_.get());
  cpu::GemmArgs<T> g{static_cast<const T*>(a_.get()), static_cast<const T*>(nt_.get())};
  g.m = kDistinct, g.n = n_, g.k = k_, g.a_row = length, g.w_n = length;
  g.y = static_cast<T*>(rounded.get()), g.y_row = n_;
  gemm_mma_sums(g, sums, launch);
  sums_ = read(y_, kDistinct * n_ * sizeof(float));
  added_ = added_to(sums_);
  finish(sums, n_, g, stream_);
  rounded_ = read(rounded, kDistinct * n_ * sizeof(T));
  g.bias = static_cast<const T*>(bias_.get());
  finish(sums, n_, g, stream_);
  with_bias_ = read(rounded, kDistinct * n_ * sizeof(T));
}

LtBytes LtSample::read(const Memory& from, std::size_t bytes) const {
  LtBytes host(bytes);
  check(cudaMemcpyAsync(host.data(), from.get(), bytes, cudaMemcpyDeviceToHost, stream_));
  check(cudaStreamSynchronize(stream_));
  return host;
}

bool LtSample::run(const LtProblem& problem, const LtCall& call) {
  const LtForm& form = problem.form;
  if (call.workspace > workspace_bytes_) {
    workspace_ = memory(call.workspace);
    workspace_bytes_ = call.workspace;
  }
  const std::size_t bytes = problem.batch * problem.m * problem.n * size_of(form.out);
  check(cudaMemsetAsync(y_.get(), form.adds ? kAddendByte : 0xFF, bytes, stream_));
  const LtOperands operands{a_.get(),
                            form.nt ? nt_.get() : nn_.get(),
                            form.bias ? bias_.get() : nullptr,
                            y_.get(),
                            workspace_.get()};
  return multiply(lt_, call, operands, stream_) == CUBLAS_STATUS_SUCCESS;
}

bool LtSample::agrees(const LtProblem& p, const LtCall& call) {
  if (!run(p, call)) return false;
  const bool are_sums = p.form.out == CUDA_R_32F;
  const std::size_t element = size_of(p.form.out), row = p.n * element;
  const LtBytes& expected = p.form.adds   ? added_
                            : are_sums    ? sums_
                            : p.form.bias ? with_bias_
                                          : rounded_;
  LtBytes got = read(y_, p.batch * p.m * row);
  if (are_sums) drop_minus_zeros(got);
  for (std::int64_t i = 0; i < p.batch * p.m; ++i) {
    const std::uint8_t* right = expected.data() + i % kDistinct * n_ * element;
    if (std::memcmp(got.data() + i * row, right, row) != 0) return false;
  }
  return true;
}

bool LtSample::holds(const LtForm& form, const cublasLtMatmulAlgo_t& algorithm) {
  int taken = 0;
  for (const Part& part : {Part{1, n_, 1, 0},
                           Part{8, n_, 1, kZeros},
                           Part{256, n_, 1, 0},
                           Part{rows_, n_, 1, kZeros},
                           Part{64, 16, 1, kZeros},
                           Part{2 * kDistinct, n_, 3, 0}}) {
    const LtProblem p = problem(form, part);
    const auto workspace = workspace_for(lt_, p, algorithm);
    if (!workspace) continue;
    ++taken;
    if (!agrees(p, {LtDescription(p), algorithm, *workspace})) return false;
  }
  return taken >= 2;
}

}  // namespace bic::cuda
