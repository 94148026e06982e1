#include "harness/interrupt.h"

#include <csignal>

namespace bic {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_seen != 0; }

}  // namespace bic
