#include "adapters/libtorch/perf_study.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "adapters/libtorch/device.h"
#include "adapters/libtorch/model_run.h"
#include "adapters/libtorch/placed.h"
#include "results_schema/error.h"

namespace bic::libtorch {

nlohmann::json perf_study(const nlohmann::json& request, std::span<std::byte> room) {
  const auto model = ready(model_run(request));
  synchronize();
  const auto start = std::chrono::steady_clock::now();
  const at::Tensor output = model->forward(nullptr);
  synchronize();
  const auto taken = std::chrono::steady_clock::now() - start;
  const at::Tensor result = output[0].contiguous(), first = on_host(result);
  if (first.nbytes() > room.size()) {
    throw UsageError(
        fmt::format("an output of {} bytes in a room of {}", first.nbytes(), room.size()));
  }
  std::memcpy(room.data(), first.const_data_ptr(), first.nbytes());
  return {{"nanoseconds", std::chrono::nanoseconds(taken).count()},
          {"dtype", dtype_name(result.scalar_type())},
          {"elements", first.numel()}};
}

}  // namespace bic::libtorch
