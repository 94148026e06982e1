#include "harness/workers/environment.h"

#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <tuple>

#include "harness/workers/child.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

/// The value of the first line of `file` that begins with `key`, without separators and quotes.
std::string value_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    std::string value = line.substr(line.find_first_of(":=") + 1);
    std::erase(value, '"');
    value.erase(0, std::min(value.find_first_not_of(" \t"), value.size()));
    return value;
  }
  return "unknown";
}

/// The vector extensions that kernels choose by.
std::string isa() {
  std::istringstream flags(value_of("/proc/cpuinfo", "flags"));
  std::string known;
  for (std::string flag; flags >> flag;) {
    const bool vector = flag == "avx2" || flag == "fma" || flag == "f16c" ||
                        flag.starts_with("avx512") || flag.starts_with("amx");
    if (vector) known += (known.empty() ? "" : " ") + flag;
  }
  return known.empty() ? "baseline" : known;
}

}  // namespace

std::string suite_version() { return BIC_VERSION; }

std::string kill_matrix_sha256() { return BIC_KILL_MATRIX_SHA256; }

report::Environment describe_environment(int threads) {
  utsname system{};
  uname(&system);
  report::Environment e{.os = value_of("/etc/os-release", "PRETTY_NAME="),
                        .kernel = std::string(system.sysname) + " " + system.release,
                        .cpu = value_of("/proc/cpuinfo", "model name"),
                        .isa = isa(),
                        .cores = std::thread::hardware_concurrency(),
                        .threads = threads,
                        .variables = {}};
  for (const std::string& v : worker_environment()) {
    const std::string key = v.substr(0, v.find('='));
    const bool personal = key == "PATH" || key == "HOME" || key == "TMPDIR" ||
                          key == "LD_LIBRARY_PATH" || key == "LD_PRELOAD" || key.starts_with("NV_");
    if (!personal) e.variables[key] = v.substr(v.find('=') + 1);
  }
  return e;
}

report::Subject describe_subject(const protocol::Hello& hello) {
  const nlohmann::json whole = hello;
  report::Subject s{.backend = hello.backend,
                    .device = hello.device,
                    .manifest = whole.at("manifest").dump(),
                    .libraries = {},
                    .fingerprint = hello.fingerprint};
  for (const std::string& path : hello.libraries) {
    std::error_code unreadable;
    const auto bytes = std::filesystem::file_size(path, unreadable);
    if (unreadable) continue;
    s.libraries.push_back({.name = std::filesystem::path(path).filename().string(),
                           .sha256 = sha256_file_hex(path),
                           .bytes = static_cast<std::int64_t>(bytes)});
  }
  // Workers list them as they lie in memory, which changes from start to start.
  std::ranges::sort(
      s.libraries, {}, [](const report::Library& l) { return std::tie(l.name, l.sha256); });
  return s;
}

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::tm utc{};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  return text;
}

}  // namespace bic
