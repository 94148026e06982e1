#include "harness/workers/python_launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "harness/files/typed.h"
#include "harness/workers/torch_launch.h"

namespace bic {
namespace {

constexpr std::string_view kPrefix = "python:";

/// MODULE and CALL; CALL is empty when there is none.
struct Target {
  std::string module, call;
};

bool is_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".py");
}

Target parse_target(const std::string& backend) {
  const std::string text = backend.substr(kPrefix.size());
  const std::size_t colon = text.rfind(':');
  Target target{text, ""};
  if (colon != std::string::npos && !is_path(std::string_view(text).substr(colon + 1))) {
    target = {text.substr(0, colon), text.substr(colon + 1)};
  }
  if (target.module.empty() || (target.call.empty() && text.ends_with(':'))) {
    throw UsageError(fmt::format("--backend: '{}' is not python:MODULE[:CALL]", backend));
  }
  return target;
}

/// Made absolute, so that the name repeats the case from any folder.
std::string resolve_module(const std::string& module) {
  if (!is_path(module)) return module;
  std::error_code missing;
  const auto real = std::filesystem::canonical(module, missing);
  if (missing || !std::filesystem::is_regular_file(real)) {
    throw UsageError(fmt::format(
        "--backend: '{}': there is no such file; name a Python file or module", module));
  }
  return real.string();
}

bool can_run(const std::filesystem::path& program) {
  std::error_code missing;
  return std::filesystem::is_regular_file(program, missing) && access(program.c_str(), X_OK) == 0;
}

/// The program, its links kept: a virtual environment is known by the path of its interpreter.
std::filesystem::path find_interpreter(const std::string& python) {
  const std::string named = python.empty() ? "python3" : python;
  if (named.find('/') != std::string::npos) {
    if (can_run(named)) return std::filesystem::absolute(named);
    throw UsageError(fmt::format("--python: '{}' is no program that can be run", named));
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    const auto program = std::filesystem::absolute(std::filesystem::path(folder) / named);
    if (can_run(program)) return program;
  }
  throw UsageError(fmt::format("--python: no '{}' on the PATH; name an interpreter", named));
}

}  // namespace

WorkerLaunch python_launch(const std::string& backend,
                           const BackendHost& host,
                           const std::filesystem::path& worker) {
  require_device(host.device);
  Target target = parse_target(backend);
  target.module = resolve_module(target.module);
  const auto interpreter = find_interpreter(host.python);
  WorkerLaunch launch{.library = worker, .backend = std::string(kPrefix) + target.module};
  if (!target.call.empty()) launch.backend += ":" + target.call;
  launch.program = interpreter;
  launch.arguments = {interpreter.string(), worker.string(), target.module};
  if (!target.call.empty() || !host.device.empty()) launch.arguments.push_back(target.call);
  if (!host.device.empty()) launch.arguments.push_back(host.device);
  return launch;
}

}  // namespace bic
