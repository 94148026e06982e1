#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace bic {

/// Bytes of memory that the processes of a group hold, whatever they hold there: what they
/// allocated, their libraries, samples shared with this process. A page that several processes
/// share is counted once by `shared`, which takes longer, and for each of them without. 0 when
/// there is no such group.
std::int64_t resident_bytes(pid_t group, bool shared);

/// Watches that a group stays within a limit.
class MemoryWatch {
 public:
  /// The bytes held when they are more than `limit`; empty else, and when the last look was less
  /// than 50 ms ago. A limit of 0 is none.
  std::optional<std::int64_t> excess(pid_t group, std::int64_t limit);

 private:
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace bic
