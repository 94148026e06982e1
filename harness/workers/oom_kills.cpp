#include "harness/workers/oom_kills.h"

#include <fstream>
#include <string>

namespace bic {

std::int64_t oom_kills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  for (std::int64_t count; counters >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return -1;
}

}  // namespace bic
