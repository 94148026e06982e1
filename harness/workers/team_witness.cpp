#include "harness/workers/team_witness.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

// The program exports GOMP_parallel, so that ATen, MKL, oneDNN and kernels of a backend reach it
// before libgomp's. It notes the team asked for and calls the real one.

namespace {

std::atomic<unsigned> largest{0};

using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
using MaxThreads = int (*)();

int note_path(dl_phdr_info* object, std::size_t, void* found) {
  if (std::string_view(object->dlpi_name).find("libgomp") == std::string_view::npos) return 0;
  *static_cast<const char**>(found) = object->dlpi_name;
  return 1;
}

/// A function of the libgomp that this process has loaded.
void* gomp_symbol(const char* name) {
  const char* path = nullptr;
  dl_iterate_phdr(note_path, &path);
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  void* symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr) std::abort();  // a parallel region without libgomp: nothing can go on
  return symbol;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void GOMP_parallel(void (*body)(void*),
                                                                     void* argument,
                                                                     unsigned threads,
                                                                     unsigned flags) {
  static const auto parallel = reinterpret_cast<Parallel>(gomp_symbol("GOMP_parallel"));
  static const auto max_threads = reinterpret_cast<MaxThreads>(gomp_symbol("omp_get_max_threads"));
  const unsigned team = threads == 0 ? static_cast<unsigned>(max_threads()) : threads;
  unsigned seen = largest.load();
  while (seen < team && !largest.compare_exchange_weak(seen, team)) {
  }
  parallel(body, argument, threads, flags);
}

namespace bic {

unsigned largest_team(int reset) { return reset != 0 ? largest.exchange(0) : largest.load(); }

}  // namespace bic
