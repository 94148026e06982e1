#pragma once

#include <cstdint>
#include <functional>

namespace bic::cpu {

/// Runs body(begin, end) over a partition of [0, tasks) on some threads; the host supplies it
/// (ATen its at::parallel_for, a test a plain loop). Which thread runs what never enters the bits.
using ParallelFor = std::function<void(
    std::int64_t tasks, const std::function<void(std::int64_t begin, std::int64_t end)>& body)>;

/// One thread.
inline void serial(std::int64_t tasks,
                   const std::function<void(std::int64_t, std::int64_t)>& body) {
  body(0, tasks);
}

}  // namespace bic::cpu
