#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reference_kernels/cuda/gemm_lt_algorithms.h"
#include "reference_kernels/cuda/gemm_lt_sample.h"

namespace bic::cuda {

/// The algorithms of one device that give the bits of gemm_mma: of the Hopper family, without a
/// split of K. Each is run on samples before its first use and kept when its bits are those.
///
/// Safe to share between threads. Works on a stream of its own.
class LtClass {
 public:
  /// That of the current device; lives as long as the process.
  static LtClass& here();

  /// Whether an algorithm gives the sums of this type, for w stored either way. Settled before the
  /// first product; until then false while `stream` is being captured, and not settled.
  bool serves(cudaDataType_t in, cudaStream_t stream);

  /// A call of the class for the problem, of which K is within a chunk; lives as long as the
  /// process. Null when the class does not serve, the library has no algorithm of it for the
  /// problem, or none was looked for yet and `stream` is being captured.
  const LtCall* find(const LtProblem& problem, cudaStream_t stream);

  /// Whether the algorithm is in the class.
  bool holds(const LtForm& form, const cublasLtMatmulAlgo_t& algorithm);

  cublasLtHandle_t handle() const { return lt_; }

 private:
  struct Hash {
    std::size_t operator()(const LtProblem& p) const;
  };
  using Samples = std::vector<std::unique_ptr<LtSample>>;
  using Key = std::pair<LtForm, std::array<std::uint64_t, 8>>;  // of an algorithm its bytes

  LtClass();
  std::optional<bool> known_to_serve(cudaDataType_t in, cudaStream_t stream);
  const Samples& samples(cudaDataType_t in);
  std::optional<LtCall> choose(const LtProblem& problem);
  const std::vector<cublasLtMatmulAlgo_t>& common(const LtForm& form);
  bool verified(const LtForm& form, const cublasLtMatmulAlgo_t& algorithm);

  std::mutex mutex_;
  cublasLtHandle_t lt_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::map<cudaDataType_t, Samples> samples_;
  std::map<cudaDataType_t, bool> serves_;
  std::map<Key, bool> verified_;
  std::map<LtForm, std::vector<cublasLtMatmulAlgo_t>> common_;
  std::unordered_map<LtProblem, std::optional<LtCall>, Hash> chosen_;
};

}  // namespace bic::cuda
