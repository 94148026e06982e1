#include <cstdio>
#include <exception>

#include "adapters/plugin/backend.h"

/// The one entry of the library: serves the plug-in on `socket` until the other side closes it and
/// returns the worker's exit code; 4 when the plug-in cannot be used. `largest_team` as in
/// adapters/libtorch/worker_main.cpp.
extern "C" __attribute__((visibility("default"))) int bic_worker_main(
    int socket, const char* backend, unsigned (*largest_team)(int reset)) {
  try {
    bic::plugin::PluginBackend plugin(backend, bic::plugin::plugin_path(backend), largest_team);
    return bic::protocol::serve(socket, plugin);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "libbic_plugin: %s\n", e.what());
    return 4;
  }
}
