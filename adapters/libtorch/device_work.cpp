#include "adapters/libtorch/device_work.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros_like.h>
#include <ATen/record_function.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <cmath>
#include <stdexcept>

#include "adapters/libtorch/beside.h"
#include "adapters/libtorch/device.h"

namespace bic::libtorch {
namespace {

void require_device(const char* form) {
  if (on_cuda()) return;
  throw std::invalid_argument(std::string("form '") + form + "' needs a CUDA device");
}

/// Queues work on a stream that neither reads nor writes anything of a trial.
void keep_busy(const c10::Stream& stream) {
  constexpr std::int64_t kFloats = 1 << 26;
  constexpr int kLaunches = 10;  // each some 0.1 ms of the memory's whole bandwidth
  const at::DisableRecordFunctionGuard unseen;
  const c10::StreamGuard on(stream);
  static const at::Tensor floats =
      at::empty({kFloats}, at::TensorOptions(device()).dtype(at::kFloat)).zero_();
  for (int i = 0; i < kLaunches; ++i) floats.neg_();
}

NamedTensors zeros_of(const NamedTensors& inputs) {
  const at::DisableRecordFunctionGuard unseen;
  NamedTensors zeros;
  for (const auto& [name, t] : inputs) zeros.emplace(name, at::zeros_like(t));
  return zeros;
}

/// Of its kind, with bytes that no sum comes out as.
at::Tensor room_for(const at::Tensor& y) {
  const at::DisableRecordFunctionGuard unseen;
  return at::full_like(y, y.is_floating_point() ? -1.25 : 77);
}

void spoil(const at::Tensor& y) {
  const at::DisableRecordFunctionGuard unseen;
  y.copy_(room_for(y));
}

decltype(&bic_capture_cuda_graph) capture_function() {
  static void* const found = function_beside("libbic_cuda_graph.so", "bic_capture_cuda_graph");
  return reinterpret_cast<decltype(&bic_capture_cuda_graph)>(found);
}

std::unique_ptr<CapturedWork> capture(const std::function<void()>& work) {
  std::unique_ptr<CapturedWork> captured;
  capture_function()(work, captured);
  return captured;
}

std::int64_t nanoseconds_of_replay(CapturedWork& work) {
  const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
  const c10::Stream stream = cuda.getStream(device());
  c10::Event begin(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  c10::Event end(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  work.replay();
  begin.record(stream);
  work.replay();
  end.record(stream);
  synchronize();
  constexpr double kNanosecondsInMillisecond = 1e6;
  return std::llround(begin.elapsedTime(end) * kNanosecondsInMillisecond);
}

}  // namespace

at::Tensor beside_other_work(const Call& call, const NamedTensors& inputs) {
  require_device("stream");
  const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
  const c10::Stream side = cuda.getStreamFromGlobalPool(device(), false);
  const c10::StreamGuard on_side(side);
  // Once before: memory for this stream is there from now on, and to get some would wait. What it
  // holds is spoilt: the second call is likely to get the same.
  at::Tensor y = call(inputs);
  const at::Tensor seen = room_for(y);
  spoil(y);
  y.reset();
  synchronize();
  keep_busy(cuda.getDefaultStream(device()));
  y = call(inputs);
  const at::DisableRecordFunctionGuard unseen;
  return seen.copy_(y);  // as whoever goes on from here reads it
}

std::int64_t nanoseconds_of(const std::function<void()>& work) {
  if (captures_graphs()) {
    try {
      return nanoseconds_of_replay(*capture(work));
    } catch (const c10::Error&) {
      // It cannot be captured, or it fails, which shows again.
    }
  }
  synchronize();
  const auto begin = std::chrono::steady_clock::now();
  work();
  synchronize();
  const auto took = std::chrono::steady_clock::now() - begin;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
}

bool captures_graphs() { return on_cuda() && capture_function() != nullptr; }

at::Tensor from_graph(const Call& call, const NamedTensors& inputs, int replay) {
  require_device("graph");
  if (!captures_graphs()) throw std::invalid_argument("this build captures no graphs");
  at::Tensor y, other;
  const auto graph = capture([&] { y = call(inputs); });
  std::unique_ptr<CapturedWork> between;
  if (replay > 0) between = capture([&] { other = call(zeros_of(inputs)); });
  for (int i = 0; i <= replay; ++i) {
    if (i > 0) between->replay();
    spoil(y);
    graph->replay();
  }
  synchronize();
  const at::DisableRecordFunctionGuard unseen;
  return y.clone();
}

}  // namespace bic::libtorch
