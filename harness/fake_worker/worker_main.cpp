#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "harness/fake_worker/fake_backend.h"

/// Entry of the worker library; `backend` names the behaviour.
extern "C" __attribute__((visibility("default"))) int bic_worker_main(int socket,
                                                                      const char* backend,
                                                                      unsigned (*)(int)) {
  if (std::string_view(backend) == "exits") _exit(7);
  try {
    bic::fake::FakeBackend fake(bic::fake::find_behaviour(backend));
    return bic::protocol::serve(socket, fake);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
