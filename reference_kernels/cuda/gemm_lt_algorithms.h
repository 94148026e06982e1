#pragma once

#include <cublasLt.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// A call of cuBLASLt and the algorithms that may serve it.

namespace bic::cuda {

/// What a call computes, extents aside. Sums are fp32.
struct LtForm {
  cudaDataType_t in = CUDA_R_16BF;   ///< CUDA_R_16BF or CUDA_R_16F
  cudaDataType_t out = CUDA_R_16BF;  ///< that of `in`, or CUDA_R_32F: the sums themselves
  bool nt = true;                    ///< w stored [n, k], else [k, n]
  bool bias = false;  ///< one row of n, added to the sum before the rounding to `out`
  bool adds = false;  ///< to what y holds, which is fp32
  auto operator<=>(const LtForm&) const = default;
};

/// y[b,i,j] = sum_k a[b,i,k] w[b,k,j] (+ bias[j]); a, y and w row-major as `form` says, with rows
/// and matrices apart by multiples of 8 elements.
struct LtProblem {
  LtForm form;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::int64_t a_row = 0, w_row = 0, y_row = 0;
  std::int64_t a_batch = 0, w_batch = 0, y_batch = 0;
  auto operator<=>(const LtProblem&) const = default;
};

/// Aligned to 16 bytes.
struct LtOperands {
  const void *a = nullptr, *w = nullptr, *bias = nullptr;
  void* y = nullptr;
  void* workspace = nullptr;  ///< of as many bytes as the call asks for
};

/// The library's description of a problem, which holds no memory of its own; its bias is any.
struct LtDescription {
  explicit LtDescription(const LtProblem& problem);
  cublasLtMatmulDescOpaque_t op;
  cublasLtMatrixLayoutOpaque_t w, a, y;
  bool bias, adds;
};

/// A call that lacks its operands alone.
struct LtCall {
  LtDescription description;
  cublasLtMatmulAlgo_t algorithm;
  std::size_t workspace;  ///< bytes
};

/// Throws when a call of the library failed; `what` names it.
void check_lt(cublasStatus_t status, const char* what);

/// How many bytes of workspace the algorithm wants for the problem; none when the library does not
/// take it there.
std::optional<std::size_t> workspace_for(cublasLtHandle_t lt,
                                         const LtProblem& problem,
                                         const cublasLtMatmulAlgo_t& algorithm);

/// Algorithms of the Hopper family without a split of K that the library takes for the problem,
/// what it holds for the fastest first. Deterministic.
std::vector<cublasLtMatmulAlgo_t> candidates(cublasLtHandle_t lt, const LtProblem& problem);

/// The same from problems of several extents, for one whose own candidates do not serve. Not every
/// problem takes each.
std::vector<cublasLtMatmulAlgo_t> common_candidates(cublasLtHandle_t lt, const LtForm& form);

/// Queues the product.
cublasStatus_t multiply(cublasLtHandle_t lt,
                        const LtCall& call,
                        const LtOperands& operands,
                        cudaStream_t stream);

}  // namespace bic::cuda
