#include "reference_kernels/cuda/gemm_lt_class.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "reference_kernels/cuda/gemm_paths.h"

namespace bic::cuda {
namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("gemm_lt: ") + cudaGetErrorString(error));
  }
}

/// Lets this thread allocate and wait, on a stream of its own, while any other is being captured.
class DuringCapture {
 public:
  DuringCapture() { check(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~DuringCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  DuringCapture(const DuringCapture&) = delete;
  DuringCapture& operator=(const DuringCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// In doubt true: asking is refused on some streams while others are being captured.
bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) {
    cudaGetLastError();
    return true;
  }
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

std::size_t LtClass::Hash::operator()(const LtProblem& p) const {
  const LtForm& f = p.form;
  const std::uint64_t form = static_cast<std::uint64_t>(f.in) << 16 |
                             static_cast<std::uint64_t>(f.out) << 8 | f.nt << 2 | f.bias << 1 |
                             f.adds;
  std::uint64_t hash = form;
  for (const std::int64_t x :
       {p.m, p.n, p.k, p.batch, p.a_row, p.w_row, p.y_row, p.a_batch, p.w_batch, p.y_batch}) {
    hash = (hash ^ static_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

LtClass& LtClass::here() {
  // Never destroyed: the runtime may be gone by the time that statics are.
  static auto* mutex = new std::mutex;
  static auto* all = new std::map<int, std::unique_ptr<LtClass>>;
  int device = 0;
  check(cudaGetDevice(&device));
  const std::lock_guard lock(*mutex);
  std::unique_ptr<LtClass>& mine = (*all)[device];
  if (!mine) mine.reset(new LtClass);
  return *mine;
}

LtClass::LtClass() {
  const DuringCapture relaxed;
  check_lt(cublasLtCreate(&lt_), "start");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

bool LtClass::serves(cudaDataType_t in, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  return known_to_serve(in, stream).value_or(false);
}

/// None when it is not known and cannot be settled now.
std::optional<bool> LtClass::known_to_serve(cudaDataType_t in, cudaStream_t stream) {
  const auto known = serves_.find(in);
  if (known != serves_.end()) return known->second;
  if (is_captured(stream)) return std::nullopt;
  const DuringCapture relaxed;
  const bool both = std::ranges::all_of(std::array{true, false}, [&](bool nt) {
    const std::int64_t m = 264, n = 144, k = kNarrowChunk;
    return choose({.form = {.in = in, .out = CUDA_R_32F, .nt = nt},
                   .m = m,
                   .n = n,
                   .k = k,
                   .a_row = k,
                   .w_row = nt ? k : n,
                   .y_row = n})
        .has_value();
  });
  return serves_[in] = both;
}

const LtCall* LtClass::find(const LtProblem& problem, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  auto known = chosen_.find(problem);
  if (known == chosen_.end()) {
    const auto serves = known_to_serve(problem.form.in, stream);
    if (!serves.value_or(false) || is_captured(stream)) return nullptr;
    const DuringCapture relaxed;
    known = chosen_.emplace(problem, choose(problem)).first;
  }
  return known->second ? &*known->second : nullptr;
}

bool LtClass::holds(const LtForm& form, const cublasLtMatmulAlgo_t& algorithm) {
  const std::lock_guard lock(mutex_);
  const DuringCapture relaxed;
  return verified(form, algorithm);
}

const LtClass::Samples& LtClass::samples(cudaDataType_t in) {
  const auto known = samples_.find(in);
  if (known != samples_.end()) return known->second;
  Samples all;
  // A chunk of many steps of K with a tail; few, with more rows and columns than any tile has.
  for (const LtSampleValues& values :
       {LtSampleValues(in, 264, 144, 1976), LtSampleValues(in, 1024, 328, 72)}) {
    all.push_back(std::make_unique<LtSample>(lt_, in, values, stream_));
  }
  return samples_[in] = std::move(all);
}

std::optional<LtCall> LtClass::choose(const LtProblem& problem) {
  const auto call = [&](const cublasLtMatmulAlgo_t& algorithm) -> std::optional<LtCall> {
    const auto workspace = workspace_for(lt_, problem, algorithm);
    if (!workspace || !verified(problem.form, algorithm)) return std::nullopt;
    return LtCall{LtDescription(problem), algorithm, *workspace};
  };
  for (const cublasLtMatmulAlgo_t& algorithm : candidates(lt_, problem)) {
    if (const auto found = call(algorithm)) return found;
  }
  for (const cublasLtMatmulAlgo_t& algorithm : common(problem.form)) {
    if (const auto found = call(algorithm)) return found;
  }
  return std::nullopt;
}

const std::vector<cublasLtMatmulAlgo_t>& LtClass::common(const LtForm& form) {
  const auto known = common_.find(form);
  if (known != common_.end()) return known->second;
  return common_[form] = common_candidates(lt_, form);
}

bool LtClass::verified(const LtForm& form, const cublasLtMatmulAlgo_t& algorithm) {
  static_assert(sizeof algorithm == sizeof(Key::second_type));
  const Key key{form, std::bit_cast<Key::second_type>(algorithm)};
  const auto known = verified_.find(key);
  if (known != verified_.end()) return known->second;
  return verified_[key] = std::ranges::all_of(
             samples(form.in), [&](const auto& sample) { return sample->holds(form, algorithm); });
}

}  // namespace bic::cuda
