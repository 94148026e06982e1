#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/cli/backend_flags.h"
#include "harness/cli/flags.h"
#include "harness/files/text_file.h"
#include "harness/files/typed.h"
#include "harness/trace/audit.h"
#include "harness/trace/trace_report.h"
#include "harness/workers/interrupt.h"
#include "harness/workers/start_worker.h"
#include "results_schema/error.h"
#include "results_schema/json.h"
#include "results_schema/trace_schema.h"

namespace bic {
namespace {

/// A full-size model takes minutes, its weights alone one.
constexpr std::chrono::milliseconds kLongestPass = std::chrono::minutes(30);

struct TraceFlags {
  BackendFlags backend;
  ModelChoice choice;
  std::string batch = "32", position, sample = "0", only = "*", room = "4GiB", json, shapes;
  bool audits = false;

  void add_to(CLI::App& app) {
    backend.add_to(app);
    backend.add_weights(app);
    app.add_option("--model", choice.model, "pi0 (default) or decoder");
    app.add_option("--preset", choice.preset, "size of the model (tiny-ragged)");
    app.add_option("--dtype", choice.dtype, "fp32 (default), bf16 or fp64");
    app.add_option("--batch", batch, "requests beside which the sample is run (32)");
    app.add_option("--position", position, "its place in the batch, from 0 (the last)");
    app.add_option("--sample", sample, "the request under test by its id (0)");
    app.add_option("--only", only, "glob of the tensors' names: '*layer_1.pre_attn*'");
    app.add_option("--room", room, "most bytes of the traced tensors of one run (4GiB)");
    app.add_flag("--audit", audits, "show which ops one pass of the batch reaches instead")
        ->disable_flag_override();
    app.add_option("--shapes",
                   shapes,
                   "with --audit: print suites/shapes/pi0_ops_tiny.csv (tiny) "
                   "or pi0_ops_full.csv (full)");
    app.add_option("--json", json, "file for all of it (results_schema/trace.schema.json)");
  }

  SamplePlan plan() const {
    const SamplePlan all{.sample = number_flag("--sample", sample, 1'000'000, 0),
                         .batch = number_flag("--batch", batch, 4096, 2)};
    SamplePlan plan = all;
    plan.position =
        position.empty() ? all.batch - 1 : number_flag("--position", position, all.batch - 1, 0);
    return plan;
  }
};

void write(const std::string& file, const nlohmann::json& trace) {
  if (const std::string error = report::trace_schema_error(trace); !error.empty()) {
    throw HarnessError("trace: it breaks its own schema: " + error);
  }
  write_text(file, canonical_json(trace) + "\n");
}

/// Whoever makes the audits of the committed sizes: one request, in the dtypes of the presets.
const std::vector<ModelChoice>& audited(const std::string& sizes) {
  static const std::vector<ModelChoice> kTiny{{"pi0", "tiny", "fp32"},
                                              {"pi0", "tiny", "bf16"},
                                              {"pi0", "tiny-ragged", "fp32"},
                                              {"pi0", "tiny-ragged", "bf16"},
                                              {"pi0", "tiny-openpi", "fp32"},
                                              {"pi0", "tiny-openpi", "bf16"},
                                              {"decoder", "tiny", "fp32"},
                                              {"decoder", "tiny", "bf16"},
                                              {"decoder", "tiny-ragged", "fp32"},
                                              {"decoder", "tiny-ragged", "bf16"}};
  static const std::vector<ModelChoice> kFull{
      {"pi0", "open-pi-zero", "bf16"}, {"pi0", "openpi", "bf16"}, {"decoder", "gemma-2b", "bf16"}};
  if (sizes == "tiny") return kTiny;
  if (sizes == "full") return kFull;
  throw UsageError(fmt::format("--shapes: '{}' is neither 'tiny' nor 'full'", sizes));
}

/// The shapes of all models of these sizes.
int print_shapes(Worker& worker, const std::string& sizes) {
  std::vector<Audit> audits;
  const AskStudy ask = ask_of(worker, "audit");
  for (const ModelChoice& choice : audited(sizes)) {
    audits.push_back(audit(ask, choice, 1, own_overloads(worker.hello())));
  }
  std::cout << shapes_csv(audits);
  return static_cast<int>(ExitCode::kConforms);
}

int print_audit(Worker& worker, const TraceFlags& flags, const TraceSubject& subject) {
  const Audit all = audit(
      ask_of(worker, "audit"), subject.choice, flags.plan().batch, own_overloads(worker.hello()));
  std::cout << audit_text(all, subject.backend);
  if (flags.json.empty()) return static_cast<int>(ExitCode::kConforms);
  nlohmann::json j = head_json(subject);
  add_audit(j, all);
  write(flags.json, j);
  return static_cast<int>(ExitCode::kConforms);
}

int print_trace(Worker& worker, const TraceFlags& flags, const TraceSubject& subject) {
  const TracedModel model(
      ask_of(worker, "trace"), subject.choice, byte_count("--room", flags.room));
  const TraceResult result = trace(model, flags.plan(), flags.only, own_overloads(worker.hello()));
  std::cout << trace_text(subject, result);
  if (!flags.json.empty()) write(flags.json, trace_json(subject, result));
  return static_cast<int>(result.first ? ExitCode::kDoesNotConform : ExitCode::kConforms);
}

/// What can be refused before a worker is started.
void check(const TraceFlags& flags) {
  if (!flags.backend.against.empty()) throw UsageError("--against: trace takes one backend");
  if (!flags.shapes.empty() && !flags.audits) throw UsageError("--shapes goes with --audit");
  if (!flags.shapes.empty()) audited(flags.shapes);
  if (!flags.backend.weights.empty() && flags.choice.model != "pi0") {
    throw UsageError(fmt::format("--weights: they are of pi0; model '{}' has synthetic ones only",
                                 flags.choice.model));
  }
  flags.plan();
  byte_count("--room", flags.room);
}

}  // namespace

int trace_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Finds where a sample's bits in a batch leave those that it has alone.",
               "bi-conform trace");
  TraceFlags flags;
  flags.add_to(app);
  parse(app, arguments);
  check(flags);
  const auto weights = flags.backend.weights_of(program, flags.choice.preset);
  if (weights) flags.choice.weights = weights->file;
  WorkerLaunch launch = flags.backend.launch(program);
  if (flags.backend.timeout.empty()) launch.timeout = kLongestPass;
  catch_interrupts();
  const auto worker = start_worker(launch);
  if (!flags.shapes.empty()) return print_shapes(*worker, flags.shapes);
  const TraceSubject subject{
      .backend = worker->hello().backend,
      .device = worker->hello().device,
      .choice = flags.choice,
      .only = flags.only,
      .repro = program.typed + " repro",
      .repro_flags = " --backend " + shell_quoted(launch.backend) + launch.flags,
      .weights = weights};
  return flags.audits ? print_audit(*worker, flags, subject) : print_trace(*worker, flags, subject);
}

}  // namespace bic
