#pragma once

#include <string>
#include <vector>

namespace bic {

/// The command line after the program's name. Returns the exit code; every mistake is one line on
/// stderr. `program` is the path of the executable, beside which the workers lie; `typed` is what a
/// person types to run it, for the lines that are there to be pasted.
int run_command_line(const std::string& program,
                     const std::string& typed,
                     const std::vector<std::string>& arguments);

}  // namespace bic
