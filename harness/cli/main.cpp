#include <malloc.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "harness/cli/cli.h"
#include "harness/files/typed.h"

int main(int count, char** values) {
  // Samples and outputs come and go by the megabyte: keep them with the allocator.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  // A script that wraps the program says how it is called itself.
  const char* wrapper = std::getenv("BIC_COMMAND");
  return bic::run_command_line("/proc/self/exe",
                               wrapper != nullptr ? wrapper : bic::shell_quoted(values[0]),
                               std::vector<std::string>(values + 1, values + count));
}
