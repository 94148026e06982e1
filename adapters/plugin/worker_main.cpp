#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "adapters/plugin/backend.h"

namespace bic::plugin {
namespace {

/// The user's file for `plugin:PATH.so`; for another name the plug-in that was built with this
/// library, external/NAME.so beside it.
std::string path_of(const std::string& backend) {
  constexpr std::string_view kPrefix = "plugin:";
  if (backend.starts_with(kPrefix)) return backend.substr(kPrefix.size());
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&path_of), &here);
  const auto folder = std::filesystem::canonical(here.dli_fname).parent_path();
  return folder / "external" / (backend + ".so");
}

}  // namespace
}  // namespace bic::plugin

/// The one entry of the library: serves the plug-in on `socket` until the other side closes it and
/// returns the worker's exit code; 4 when the plug-in cannot be used. `largest_team` as in
/// adapters/libtorch/worker_main.cpp.
extern "C" __attribute__((visibility("default"))) int bic_worker_main(
    int socket, const char* backend, unsigned (*largest_team)(int reset)) {
  try {
    bic::plugin::PluginBackend plugin(backend, bic::plugin::path_of(backend), largest_team);
    return bic::protocol::serve(socket, plugin);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "libbic_plugin: %s\n", e.what());
    return 4;
  }
}
