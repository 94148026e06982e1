#include "reference_kernels/cuda/gemm_lt_algorithms.h"

#include <stdexcept>
#include <string>

namespace bic::cuda {
namespace {

constexpr int kHopperAlgorithm = 66;  // wgmma; the library has no name for it
constexpr std::uint32_t kAlignment = 16;
constexpr int kMostFound = 8;  // the library returns no more, whatever is asked
// Algorithms without a split want some too, where there are more tiles than multiprocessors.
constexpr std::size_t kMostWorkspace = 32 << 20;

/// Where only the alignment of a bias counts: nobody reads it.
const void* const kAnyBias = reinterpret_cast<const void*>(std::uintptr_t{kAlignment});

template <class Value>
void set(cublasLtMatmulDescOpaque_t& op, cublasLtMatmulDescAttributes_t name, Value value) {
  check_lt(cublasLtMatmulDescSetAttribute(&op, name, &value, sizeof value), "describe a product");
}

template <class Value>
void set(cublasLtMatmulPreferenceOpaque_t& wanted,
         cublasLtMatmulPreferenceAttributes_t name,
         Value value) {
  check_lt(cublasLtMatmulPreferenceSetAttribute(&wanted, name, &value, sizeof value),
           "state a preference");
}

/// The library is column-major: our rows are its columns.
void describe(cublasLtMatrixLayoutOpaque_t& layout,
              cudaDataType_t type,
              std::int64_t rows,
              std::int64_t cols,
              std::int64_t row_stride,
              std::int64_t batch,
              std::int64_t batch_stride) {
  const auto count = static_cast<std::int32_t>(batch);
  check_lt(cublasLtMatrixLayoutInit(&layout, type, cols, rows, row_stride), "describe a matrix");
  check_lt(cublasLtMatrixLayoutSetAttribute(
               &layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
           "set a batch count");
  check_lt(
      cublasLtMatrixLayoutSetAttribute(
          &layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch_stride, sizeof batch_stride),
      "set a batch stride");
}

/// What may be found: algorithms with these reduction schemes.
cublasLtMatmulPreferenceOpaque_t preference(std::uint32_t reductions) {
  cublasLtMatmulPreferenceOpaque_t wanted;
  check_lt(cublasLtMatmulPreferenceInit(&wanted), "begin a preference");
  set(wanted, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions);
  set(wanted, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kMostWorkspace});
  for (const auto alignment : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    set(wanted, alignment, kAlignment);
  }
  return wanted;
}

/// Whether the algorithm is of the family; if so, K is no longer split.
bool without_split(cublasLtMatmulAlgo_t& algorithm) {
  int id = -1;
  const std::int32_t parts = 1;
  const std::uint32_t none = CUBLASLT_REDUCTION_SCHEME_NONE;
  std::size_t written = 0;
  return cublasLtMatmulAlgoConfigGetAttribute(
             &algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id, &written) ==
             CUBLAS_STATUS_SUCCESS &&
         id == kHopperAlgorithm &&
         cublasLtMatmulAlgoConfigSetAttribute(
             &algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, sizeof parts) ==
             CUBLAS_STATUS_SUCCESS &&
         cublasLtMatmulAlgoConfigSetAttribute(
             &algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &none, sizeof none) ==
             CUBLAS_STATUS_SUCCESS;
}

void add_found(cublasLtHandle_t lt,
               const LtProblem& problem,
               cublasLtMatmulPreferenceOpaque_t wanted,
               std::vector<cublasLtMatmulAlgo_t>& all) {
  LtDescription d(problem);
  cublasLtMatmulHeuristicResult_t found[kMostFound];
  int count = 0;
  // A status other than success says that there is none.
  if (cublasLtMatmulAlgoGetHeuristic(
          lt, &d.op, &d.w, &d.a, &d.y, &d.y, &wanted, kMostFound, found, &count) !=
      CUBLAS_STATUS_SUCCESS) {
    return;
  }
  for (int i = 0; i < count; ++i) {
    cublasLtMatmulAlgo_t algorithm = found[i].algo;
    if (found[i].state == CUBLAS_STATUS_SUCCESS && without_split(algorithm) &&
        workspace_for(lt, problem, algorithm)) {
      all.push_back(algorithm);
    }
  }
}

}  // namespace

void check_lt(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string("gemm_lt: cannot ") + what + ": " +
                             cublasLtGetStatusString(status));
  }
}

LtDescription::LtDescription(const LtProblem& p) : bias(p.form.bias), adds(p.form.adds) {
  const LtForm& form = p.form;
  check_lt(cublasLtMatmulDescInit(&op, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describe a product");
  set(op, CUBLASLT_MATMUL_DESC_TRANSA, form.nt ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(op, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  if (form.bias) {
    set(op, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, kAnyBias);
  }
  const std::int64_t rows = form.nt ? p.n : p.k, cols = form.nt ? p.k : p.n;
  describe(w, form.in, rows, cols, p.w_row, p.batch, p.w_batch);
  describe(a, form.in, p.m, p.k, p.a_row, p.batch, p.a_batch);
  describe(y, form.out, p.m, p.n, p.y_row, p.batch, p.y_batch);
}

std::optional<std::size_t> workspace_for(cublasLtHandle_t lt,
                                         const LtProblem& problem,
                                         const cublasLtMatmulAlgo_t& algorithm) {
  LtDescription d(problem);
  cublasLtMatmulHeuristicResult_t result{};
  if (cublasLtMatmulAlgoCheck(lt, &d.op, &d.w, &d.a, &d.y, &d.y, &algorithm, &result) !=
          CUBLAS_STATUS_SUCCESS ||
      result.workspaceSize > kMostWorkspace) {
    return std::nullopt;
  }
  return result.workspaceSize;
}

std::vector<cublasLtMatmulAlgo_t> candidates(cublasLtHandle_t lt, const LtProblem& problem) {
  std::vector<cublasLtMatmulAlgo_t> all;
  add_found(lt, problem, preference(CUBLASLT_REDUCTION_SCHEME_NONE), all);
  // Those that split K, made whole: slower than their estimate, but ones the first list may lack.
  add_found(lt, problem, preference(CUBLASLT_REDUCTION_SCHEME_MASK), all);
  return all;
}

std::vector<cublasLtMatmulAlgo_t> common_candidates(cublasLtHandle_t lt, const LtForm& form) {
  std::vector<cublasLtMatmulAlgo_t> all;
  for (const std::int64_t m : {64, 16, 256, 1024, 4096}) {
    for (const std::int64_t n : {128, 1024, 4096}) {
      const std::int64_t k = 1024;
      const LtProblem problem{
          .form = form, .m = m, .n = n, .k = k, .a_row = k, .w_row = form.nt ? k : n, .y_row = n};
      const auto found = candidates(lt, problem);
      all.insert(all.end(), found.begin(), found.end());
    }
  }
  return all;
}

cublasStatus_t multiply(cublasLtHandle_t lt,
                        const LtCall& call,
                        const LtOperands& operands,
                        cudaStream_t stream) {
  LtDescription d = call.description;
  if (d.bias) set(d.op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  const float one = 1, kept = d.adds ? 1 : 0;
  return cublasLtMatmul(lt,
                        &d.op,
                        &one,
                        operands.w,
                        &d.w,
                        operands.a,
                        &d.a,
                        &kept,
                        operands.y,
                        &d.y,
                        operands.y,
                        &d.y,
                        &call.algorithm,
                        operands.workspace,
                        call.workspace,
                        stream);
}

}  // namespace bic::cuda
