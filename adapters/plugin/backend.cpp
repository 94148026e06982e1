#include "adapters/plugin/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "adapters/plugin/call.h"
#include "adapters/protocol/digest.h"
#include "adapters/protocol/guarded.h"
#include "adapters/protocol/usable_cores.h"
#include "results_schema/error.h"

namespace bic::plugin {
namespace {

using protocol::Outcome;
using protocol::TrialMessage;
using protocol::TrialReply;

/// The same batch, padded as the trial says, in dense memory.
TrialMessage dense(const TrialMessage& trial) {
  TrialMessage plain{.slots = trial.slots, .trial = {}, .threads = trial.threads};
  plain.trial.batch = trial.trial.batch;
  plain.trial.pad_dim = trial.trial.pad_dim;
  plain.trial.pad = trial.trial.pad;
  return plain;
}

/// The input that a call in place writes to: the first argument of its text's first step, as in
/// "(y) = aten::addmm_.default(c, x, w)".
std::size_t written_input(const protocol::ProblemMessage& problem) {
  const std::string& text = problem.calls.at(std::string(name(Form::kInplace)));
  const std::size_t begin = text.find('(', text.find('=')) + 1;
  const std::string argument = text.substr(begin, text.find_first_of(",)", begin) - begin);
  const auto at = std::ranges::find(problem.inputs, argument, &protocol::TensorMessage::name);
  if (at != problem.inputs.end()) return static_cast<std::size_t>(at - problem.inputs.begin());
  throw HarnessError(problem.op + ": no input is called '" + argument + "', in '" + text + "'");
}

const std::string& text_of(const protocol::ProblemMessage& problem, Form form) {
  const auto at = problem.calls.find(std::string(name(form)));
  if (at != problem.calls.end()) return at->second;
  throw HarnessError(problem.op + ": no call of form '" + std::string(name(form)) + "' was loaded");
}

/// The tensor's elements, row-major, at the start of `output`.
std::span<std::byte> copy_elements(const Placed& tensor, std::span<std::byte> output) {
  std::int64_t bytes = tensor.element_size();
  for (std::int64_t extent : tensor.plan().shape) bytes *= extent;
  if (bytes > static_cast<std::int64_t>(output.size())) {
    throw HarnessError("the output's memory is too small");
  }
  protocol::copy_out(tensor.plan().shape,
                     tensor.plan().strides,
                     tensor.element_size(),
                     tensor.first(),
                     output.data());
  return output.first(static_cast<std::size_t>(bytes));
}

}  // namespace

PluginBackend::PluginBackend(std::string name, const std::string& path, LargestTeam largest_team)
    : name_(std::move(name)), library_(path), largest_team_(largest_team) {}

protocol::Hello PluginBackend::hello() {
  const int threads = usable_cores();
  return {.backend = name_,
          .device = "cpu",
          .fingerprint = {{"plugin", library_.title()},
                          {"header_version", std::to_string(BIC_PLUGIN_VERSION)},
                          {"threads", std::to_string(threads)}},
          .libraries = library_.files(),
          .default_threads = threads,
          .manifest = library_.manifest()};
}

void PluginBackend::load(const protocol::ProblemMessage& problem, std::span<const std::byte> pool) {
  kept_.clear();
  problem_ = problem;
  pool_ = pool;
}

bool PluginBackend::lacks(Form form) const {
  const auto& all = library_.manifest();
  const auto entry = std::ranges::find(all, problem_.op, &protocol::ManifestEntry::op);
  return entry == all.end() || std::ranges::find(entry->lacks, form) != entry->lacks.end();
}

PluginBackend::Tensors PluginBackend::place(const TrialMessage& trial) {
  Tensors tensors;
  for (const protocol::TensorMessage& t : problem_.inputs) {
    tensors.inputs.push_back(place_input(t, trial));
  }
  const Form form = trial.trial.form;
  if (form == Form::kInplace) {
    tensors.output = tensors.inputs[written_input(problem_)];
  } else {
    tensors.output = std::make_shared<Placed>(
        Placed::output(problem_, form == Form::kOut ? trial : dense(trial)));
  }
  return tensors;
}

std::shared_ptr<Placed> PluginBackend::place_input(const protocol::TensorMessage& t,
                                                   const TrialMessage& trial) {
  const bool keeps =
      t.pool_stride == 0 && trial.trial.pad == 0 && trial.trial.form != Form::kInplace;
  std::shared_ptr<Placed>& kept = kept_[t.name];
  if (keeps && kept != nullptr && kept->plan() == protocol::plan_tensor(problem_, t, trial)) {
    return kept;
  }
  auto placed = std::make_shared<Placed>(Placed::input(problem_, t, trial, pool_));
  if (keeps) kept = placed;
  return placed;
}

std::unique_ptr<Call> PluginBackend::call_of(const TrialMessage& trial,
                                             const Tensors& tensors) const {
  std::vector<bic_tensor> inputs;
  for (const auto& input : tensors.inputs) inputs.push_back(input->view());
  const Form form = trial.trial.form;
  return std::make_unique<Call>(CallHead{problem_.op,
                                         problem_.variant,
                                         text_of(problem_, form),
                                         form,
                                         trial.threads,
                                         problem_.attributes},
                                std::move(inputs),
                                tensors.output->view());
}

TrialReply PluginBackend::run(const TrialMessage& trial, std::span<std::byte> output) {
  TrialReply reply;
  if (lacks(trial.trial.form)) {
    reply.outcome = Outcome::kRefused;
    reply.message = fmt::format("form '{}' is not claimed", name(trial.trial.form));
    return reply;
  }
  const Tensors tensors = place(trial);
  for (const auto& input : tensors.inputs) input->remember();
  if (writes_given(trial.trial.form)) tensors.output->remember();
  observe(tensors, reply.witness);
  const std::unique_ptr<Call> call = call_of(trial, tensors);
  if (largest_team_ != nullptr) largest_team_(1);
  reply.outcome = call->make(library_, reply.message);
  const unsigned seen = largest_team_ == nullptr ? 0 : largest_team_(0);
  // A team that nobody saw and nobody states may have any size.
  const bool known = call->team() == 0 || seen > 0;
  reply.witness.largest_team = call->team() > 0 ? call->team()
                               : known          ? static_cast<int>(seen)
                                                : -1;
  reply.witness.form = bic::name(trial.trial.form);
  reply.witness.calls = ++calls_made_;
  reply.witness.reached = {"plugin::" + problem_.op};
  reply.witness.gave_output = writes_given(trial.trial.form);
  if (reply.outcome == Outcome::kRan) take_output(*tensors.output, call->output(), reply, output);
  report_changes(trial, tensors, reply);
  if (reply.input_changed || reply.out_of_bounds) kept_.clear();
  return reply;
}

void PluginBackend::observe(const Tensors& tensors, protocol::Witness& witness) const {
  for (std::size_t i = 0; i < tensors.inputs.size(); ++i) {
    const Placed& input = *tensors.inputs[i];
    witness.address_mod_64.push_back(
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(input.first()) % 64));
    witness.strides.push_back(input.plan().strides);
    witness.shapes.push_back(input.plan().shape);
    const bool of_batch = problem_.inputs[i].pool_stride != 0;
    if (of_batch) witness.input_digest = protocol::digest(input.block(), witness.input_digest);
  }
}

/// Where the plug-in says that it wrote another type or shape, there are no elements to take.
void PluginBackend::take_output(const Placed& output,
                                const bic_tensor& as_left,
                                TrialReply& reply,
                                std::span<std::byte> elements) const {
  reply.dtype = dtype_name(as_left.dtype);
  reply.shape.assign(as_left.shape, as_left.shape + as_left.ndim);
  if (reply.dtype != problem_.output.elements || reply.shape != output.plan().shape) return;
  reply.unwritten = protocol::count_poison(copy_elements(output, elements), output.element_size());
}

void PluginBackend::report_changes(const TrialMessage& trial,
                                   const Tensors& tensors,
                                   TrialReply& reply) const {
  for (const auto& input : tensors.inputs) {
    if (input != tensors.output && input->changed()) reply.input_changed = true;
    if (!input->guards_hold()) reply.out_of_bounds = true;
  }
  if (!tensors.output->guards_hold()) reply.out_of_bounds = true;
  // Its elements are the op's to write, the gaps between them are not.
  const bool given = writes_given(trial.trial.form);
  if (given && tensors.output->changed_between_elements()) reply.out_of_bounds = true;
}

protocol::TimeReply PluginBackend::time(const protocol::TimeMessage& request,
                                        std::span<std::byte> output) {
  protocol::TimeReply reply;
  std::vector<Tensors> sets;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < std::max(1, request.copies); ++i) {
    const Tensors& t = sets.emplace_back(place(request.trial));
    calls.push_back(call_of(request.trial, t));
  }
  reply.outcome = calls[0]->make(library_, reply.message);
  const auto begin = std::chrono::steady_clock::now();
  std::size_t last = 0;
  for (int i = 0; i < request.calls && reply.outcome == Outcome::kRan; ++i) {
    last = static_cast<std::size_t>(i + 1) % sets.size();
    reply.outcome = calls[last]->make(library_, reply.message);
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  reply.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  if (reply.outcome == Outcome::kRan) copy_elements(*sets[last].output, output);
  return reply;
}

}  // namespace bic::plugin
