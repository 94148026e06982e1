#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reference_kernels/cuda/gemm_lt_algorithms.h"

namespace bic::cuda {

using LtBytes = std::vector<std::uint8_t>;

/// Operands that show the order of a sum: large terms that cancel in pairs far apart, and small
/// ones, so that a result is mostly what the order lost. Encoded as `in`, exactly.
struct LtSampleValues {
  static constexpr std::int64_t kDistinct = 9;  ///< rows, then they repeat
  static constexpr std::int64_t kZeros = 64;    ///< appended to k

  /// `rows` of a, `n` columns of w, k terms and kZeros zeros. Row 6 has an infinity that meets a 0
  /// in column 1; row 7 is -0; row 8 is so small that with column 2 its sums, of negative products
  /// alone, underflow where `in` can make them.
  LtSampleValues(cudaDataType_t in, std::int64_t rows, std::int64_t n, std::int64_t k);

  std::int64_t rows, n, k;
  std::vector<std::uint16_t> a;     ///< [rows, k + kZeros]
  std::vector<std::uint16_t> nt;    ///< w as [n, k + kZeros]
  std::vector<std::uint16_t> nn;    ///< w as [k + kZeros, n]
  std::vector<std::uint16_t> bias;  ///< [n], of which the first is -0
};

/// The operands on the device, and the bits that they must give: those of gemm_mma.
class LtSample {
 public:
  /// Throws when the device fails.
  LtSample(cublasLtHandle_t lt,
           cudaDataType_t in,
           const LtSampleValues& values,
           cudaStream_t stream);

  /// Whether the algorithm gives the expected bits in every part that it takes, at least two: alone
  /// and in batches, in every place, with fewer columns, in a stack, with zeros appended.
  bool holds(const LtForm& form, const cublasLtMatmulAlgo_t& algorithm);

 private:
  /// How much of the operands is multiplied.
  struct Part {
    std::int64_t m, n, batch, zeros;
  };
  struct Free {
    void operator()(void* memory) const;
  };
  using Memory = std::unique_ptr<void, Free>;

  Memory memory(std::size_t bytes) const;
  Memory copy(const std::vector<std::uint16_t>& values) const;
  LtProblem problem(const LtForm& form, const Part& part) const;
  template <class T>
  void expect();
  LtBytes read(const Memory& from, std::size_t bytes) const;
  /// Queues the product, over bytes that no product has or, of a form that adds, over kAddend;
  /// false when the library refuses.
  bool run(const LtProblem& problem, const LtCall& call);
  bool agrees(const LtProblem& problem, const LtCall& call);

  cublasLtHandle_t lt_;
  cudaDataType_t in_;
  cudaStream_t stream_;
  std::int64_t rows_, n_, k_;
  Memory a_, nt_, nn_, bias_, y_, workspace_;
  std::size_t workspace_bytes_ = 0;
  LtBytes sums_, added_;         ///< [kDistinct, n] in fp32: the sums; kAddend plus them
  LtBytes rounded_, with_bias_;  ///< the same in `in`
};

}  // namespace bic::cuda
