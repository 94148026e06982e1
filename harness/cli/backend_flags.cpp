#include "harness/cli/backend_flags.h"

#include <fmt/format.h>

#include "harness/files/typed.h"
#include "harness/reference/declare.h"
#include "harness/reference/model_weights.h"
#include "harness/workers/backends.h"
#include "harness/workers/torch_found.h"
#include "harness/workers/torch_launch.h"
#include "results_schema/error.h"

namespace bic {
namespace {

bool needs_python(const std::string& backend) { return backend.starts_with("python:"); }

/// What is wrong with a peer is said of the flag that names it.
WorkerLaunch peer_of(const std::string& against,
                     const std::string& program,
                     const BackendHost& host) try {
  return launch_of(against, program, host);
} catch (const UsageError& e) {
  constexpr std::string_view kFlag = "--backend";
  const std::string what = e.what();
  throw UsageError(what.starts_with(kFlag) ? "--against" + what.substr(kFlag.size()) : what);
}

bool is_isolated(const std::string& isolation) {
  if (isolation.empty() || isolation == "process") return true;
  if (isolation == "none") return false;
  throw UsageError(fmt::format("--isolation: '{}' is neither 'process' nor 'none'", isolation));
}

void require_process(bool isolated, const char* flag, const std::string& value) {
  if (isolated || value.empty()) return;
  throw UsageError(
      fmt::format("{}: '{}' needs a process; leave out --isolation none", flag, value));
}

}  // namespace

void BackendFlags::add_to(CLI::App& app) {
  app.add_option("-b,--backend", backend, "backend to judge (bi-conform list backends)");
  app.add_option("--against", against, "second backend, which must give the same bits");
  app.add_option("--isolation", isolation, "process (default) or none: in this process");
  app.add_option("--timeout", timeout, "longest wait for one trial (30s)");
  app.add_option("--memory", memory, "most that the worker's processes may hold: 4GiB (no limit)");
  app.add_option("--python", python, "interpreter of a python: backend (python3)");
  add_op_specs(app, op_specs);
  app.add_option("--device", device, "cpu (default), cuda or cuda:INDEX (docs/cuda.md)");
  app.add_flag("--lift", lift, "judge ATen with a plug-in's kernels in the place of its own")
      ->disable_flag_override();
}

void add_op_specs(CLI::App& app, std::vector<std::string>& files) {
  app.add_option("--op-spec", files, "declares an op of yours (docs/op_spec.md); repeats")
      ->allow_extra_args(false);
}

void BackendFlags::add_weights(CLI::App& app) {
  app.add_option("--weights", weights, "of pi0: a safetensors file, its index or a folder of them");
}

std::optional<report::ModelWeights> BackendFlags::weights_of(const Program& program,
                                                             const std::string& preset) const {
  if (weights.empty()) return {};
  if (!has_stock(program.path)) {
    throw UsageError(
        "--weights: whole models need PyTorch, which this build has not got; build with "
        "-DBIC_LIBTORCH=ON");
  }
  return read_weights(weights, preset);
}

void BackendFlags::declare(const Program& program,
                           const std::optional<report::ModelWeights>& model_weights) const {
  if (model_weights) declare_models(launch_of("libtorch", program.path), model_weights);
  if (op_specs.empty()) return;
  if (!has_stock(program.path)) {
    throw UsageError(
        "--op-spec: its reference calls need stock PyTorch, which is not here (bi-conform "
        "--backend libtorch says why)");
  }
  declare_ops(op_specs, launch_of("libtorch", program.path));
}

WorkerLaunch BackendFlags::launch(const Program& program) const {
  if (backend.empty()) throw UsageError("--backend is missing; name one of: " + backend_names());
  const bool isolated = is_isolated(isolation);
  require_process(isolated, "--against", against);
  require_process(isolated, "--memory", memory);
  const auto longest = timeout.empty() ? WorkerLaunch{}.timeout : duration("--timeout", timeout);
  const std::int64_t most = memory.empty() ? 0 : byte_count("--memory", memory);
  // Each is for whichever of the two has a use for it; where neither has, launch_of refuses it.
  const bool peer_python = needs_python(against) && !needs_python(backend);
  const bool peer_device = takes_device(against) && !takes_device(backend);
  WorkerLaunch l = launch_of(
      backend,
      program.path,
      {.python = peer_python ? "" : python, .device = peer_device ? "" : device, .lift = lift});
  l.isolated = isolated;
  l.timeout = longest;
  l.memory = most;
  if (!against.empty()) {
    WorkerLaunch peer = peer_of(against,
                                program.path,
                                {.python = needs_python(against) ? python : "",
                                 .device = takes_device(against) ? device : ""});
    peer.timeout = l.timeout;
    peer.memory = l.memory;
    l.peer = std::make_shared<const WorkerLaunch>(std::move(peer));
  }
  l.flags = words(l);
  return l;
}

std::optional<WorkerLaunch> BackendFlags::stock(const Program& program) const {
  if (!has_stock(program.path)) return {};
  // A module's torch may reach a device where this build's does not.
  if (needs_python(backend) && is_cuda(device) && named_torch().empty()) return {};
  return launch_of("libtorch", program.path, {.device = takes_device(backend) ? device : ""});
}

/// As typed, but for paths: they are absolute, so that the words hold in any folder.
std::string BackendFlags::words(const WorkerLaunch& l) const {
  const auto& interpreter =
      needs_python(backend) || l.peer == nullptr ? l.program : l.peer->program;
  const std::pair<const char*, std::string> typed[] = {
      {"--against", against.empty() ? "" : l.peer->backend},
      {"--isolation", isolation},
      {"--timeout", timeout},
      {"--memory", memory},
      {"--python", python.empty() ? "" : interpreter.string()},
      {"--device", device}};
  std::string text = lift ? " --lift" : "";
  for (const auto& [flag, value] : typed) {
    if (!value.empty()) text += fmt::format(" {} {}", flag, shell_quoted(value));
  }
  const auto absolute = [](const std::string& file) {
    return shell_quoted(std::filesystem::absolute(file).lexically_normal());
  };
  if (!weights.empty()) text += " --weights " + absolute(weights);
  for (const std::string& file : op_specs) text += " --op-spec " + absolute(file);
  return text;
}

}  // namespace bic
