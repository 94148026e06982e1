#pragma once

#include <exception>

namespace bic {

/// From now on an interrupt (Ctrl-C, SIGTERM, SIGHUP) lets the program end in order: what is judged
/// stays.
void catch_interrupts();
bool interrupted();

/// Thrown from a wait for a worker when the interrupt comes, so that a kernel that hangs does not
/// hold it up. No Error: what was asked has no verdict, and nobody did anything wrong.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace bic
