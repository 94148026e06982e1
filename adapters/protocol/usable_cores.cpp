#include "adapters/protocol/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace bic {

int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  // The set holds 1024 cores; the system refuses to fill it on larger machines.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace bic
