#include <string>
#include <vector>

#include "harness/cli.h"

int main(int count, char** values) {
  return bic::run_command_line("/proc/self/exe",
                               std::vector<std::string>(values + 1, values + count));
}
