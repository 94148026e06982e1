#pragma once

#include <cstdint>
#include <functional>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// Elements or multiply-adds below which handing out tasks costs more than it gains: waking a
/// thread takes as long as some ten thousand of them, and much longer on a virtual machine.
inline constexpr std::int64_t kSmallWork = 131072;
/// Elements or multiply-adds that one task is worth.
inline constexpr std::int64_t kTaskWork = 2048;
/// Tasks that keep 16 threads busy though some are slower.
inline constexpr std::int64_t kManyTasks = 64;

/// body over [0, tasks): here and now when `work` is small, else through `parallel`.
inline void run_tasks(const ParallelFor& parallel,
                      std::int64_t tasks,
                      std::int64_t work,
                      const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (tasks <= 0) return;
  if (tasks == 1 || work < kSmallWork) {
    body(0, tasks);
  } else {
    parallel(tasks, body);
  }
}

/// How many of `items` equal items one task takes: work of at least kTaskWork a task, and at
/// most about kManyTasks tasks.
inline std::int64_t items_per_task(std::int64_t items, std::int64_t work_per_item) {
  const std::int64_t fill = kTaskWork / (work_per_item > 0 ? work_per_item : 1);
  const std::int64_t share = items / kManyTasks;
  const std::int64_t most = fill > share ? fill : share;
  return most > 0 ? most : 1;
}

}  // namespace bic::cpu
