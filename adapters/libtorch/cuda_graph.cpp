// libbic_cuda_graph.so: what needs PyTorch's CUDA library to be there when it is loaded.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>

#include "adapters/libtorch/device_work.h"

namespace bic::libtorch {
namespace {

class CudaGraph final : public CapturedWork {
 public:
  explicit CudaGraph(const std::function<void()>& work) {
    const auto stream = c10::cuda::getStreamFromPool();
    const c10::cuda::CUDAStreamGuard on(stream);
    work();  // handles and modules are loaded outside of the capture
    stream.synchronize();
    graph_.capture_begin();
    try {
      work();
    } catch (...) {
      abandon();
      throw;
    }
    graph_.capture_end();
  }

  void replay() override { graph_.replay(); }

 private:
  /// Ends a capture that came to nothing; what that throws says no more than what ended it.
  void abandon() {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
    }
  }

  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace bic::libtorch

void bic_capture_cuda_graph(const std::function<void()>& work,
                            std::unique_ptr<bic::libtorch::CapturedWork>& captured) {
  captured = std::make_unique<bic::libtorch::CudaGraph>(work);
}
