#include "harness/workers/group_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

#include "adapters/protocol/channel.h"

namespace bic {
namespace {

/// Of small files of /proc, whose processes may end at any moment; "" when it cannot be read.
std::string read_small(const std::string& path) {
  const protocol::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[2048];
  const ssize_t got = file ? read(file.get(), text, sizeof text) : 0;
  return {text, static_cast<std::size_t>(got > 0 ? got : 0)};
}

struct Process {
  pid_t group = 0;
  std::int64_t pages = 0;  ///< resident
};

/// From `/proc/PID/stat`: fields 5 and 24, counted from the name in brackets, which may hold
/// anything.
Process read_process(const std::string& folder) {
  const std::string text = read_small(folder + "/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  Process p;
  std::string skipped;
  fields >> skipped >> skipped >> p.group;
  for (int i = 6; i < 24; ++i) fields >> skipped;
  fields >> p.pages;
  return p;
}

/// The process's share of all its pages, from the line `Pss:  123 kB`; empty when it may not be
/// read.
std::optional<std::int64_t> read_share(const std::string& folder) {
  std::istringstream fields(read_small(folder + "/smaps_rollup"));
  for (std::string field; fields >> field;) {
    std::int64_t kib = 0;
    if (field == "Pss:" && fields >> kib) return kib * 1024;
  }
  return {};
}

bool is_process(const char* entry) { return *entry >= '1' && *entry <= '9'; }

}  // namespace

std::int64_t resident_bytes(pid_t group, bool shared) {
  static const std::int64_t kPage = sysconf(_SC_PAGESIZE);
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc"), closedir);
  std::int64_t bytes = 0;
  while (const dirent* entry = all ? readdir(all.get()) : nullptr) {
    if (!is_process(entry->d_name)) continue;
    const std::string folder = std::string("/proc/") + entry->d_name;
    const Process p = read_process(folder);
    if (p.group != group) continue;
    const auto share = shared ? read_share(folder) : std::nullopt;
    bytes += share.value_or(p.pages * kPage);
  }
  return bytes;
}

std::optional<std::int64_t> MemoryWatch::excess(pid_t group, std::int64_t limit) {
  constexpr std::chrono::milliseconds kBetween{50};
  constexpr int kRest = 20;  // at most one part in this many of the time goes into looking
  const auto begin = std::chrono::steady_clock::now();
  if (limit == 0 || begin < next_look_) return {};
  std::int64_t held = resident_bytes(group, false);
  if (held > limit) held = resident_bytes(group, true);
  const auto end = std::chrono::steady_clock::now();
  next_look_ = end + std::max<std::chrono::steady_clock::duration>(kBetween, kRest * (end - begin));
  return held > limit ? std::optional(held) : std::nullopt;
}

}  // namespace bic
