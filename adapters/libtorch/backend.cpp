#include "adapters/libtorch/backend.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "adapters/libtorch/declared_ops.h"
#include "adapters/libtorch/device.h"
#include "adapters/libtorch/device_work.h"
#include "adapters/libtorch/evaluator.h"
#include "adapters/libtorch/hello.h"
#include "adapters/libtorch/output.h"
#include "adapters/libtorch/poison.h"
#include "adapters/libtorch/reached.h"
#include "adapters/protocol/guarded.h"
#include "adapters/protocol/usable_cores.h"
#include "results_schema/error.h"

namespace bic::libtorch {
namespace {

using protocol::Outcome;
using protocol::TrialMessage;
using protocol::TrialReply;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// An op's refusal to run at all, as ATen words it.
bool declines(const std::string& message) {
  return message.find("not implemented for") != std::string::npos;
}

/// Runs `call`; what the subject throws becomes the outcome and one line. Errors of the harness
/// pass.
template <class Reply>
bool guarded(Reply& reply, const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const HarnessError&) {
    throw;
  } catch (const c10::NotImplementedError& e) {
    reply.outcome = Outcome::kRefused;
    reply.message = first_line(e.what_without_backtrace());
  } catch (const c10::Error& e) {
    reply.message = first_line(e.what_without_backtrace());
    reply.outcome = declines(reply.message) ? Outcome::kRefused : Outcome::kException;
  } catch (const std::exception& e) {
    reply.message = first_line(e.what());
    reply.outcome = declines(reply.message) ? Outcome::kRefused : Outcome::kException;
  }
  return false;
}

NamedTensors by_name(const std::vector<std::shared_ptr<Placed>>& placed) {
  NamedTensors tensors;
  for (const auto& p : placed) tensors.emplace(p->name(), p->tensor());
  return tensors;
}

void set_threads(int threads) {
  if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

}  // namespace

LibTorchBackend::LibTorchBackend(Subject subject, LargestTeam largest_team)
    : subject_(std::move(subject)), largest_team_(largest_team) {
  if (subject_.interposer == nullptr) subject_.interposer = std::make_unique<Interposer>();
  install_poison();
}

LibTorchBackend::~LibTorchBackend() = default;

void LibTorchBackend::declare(const std::vector<protocol::DeclaredOp>& declared) {
  for (auto& entry : declared_entries(declared)) subject_.manifest.push_back(std::move(entry));
}

protocol::Hello LibTorchBackend::hello() {
  const auto stock = [](const protocol::ManifestEntry& e) { return e.own.empty(); };
  if (!subject_.owns_nothing.empty() && std::ranges::all_of(subject_.manifest, stock)) {
    throw std::runtime_error(subject_.owns_nothing);
  }
  protocol::Hello hello;
  hello.backend = subject_.name;
  hello.device = device_name();
  hello.fingerprint = fingerprint();
  hello.fingerprint.merge(device_facts());
  hello.libraries = mapped_libraries();
  hello.default_threads = usable_cores();
  hello.manifest = subject_.manifest;
  if (on_cuda() && !captures_graphs()) {
    for (protocol::ManifestEntry& e : hello.manifest) e.lacks.push_back(Form::kGraph);
  }
  for (const auto& [name, study] : subject_.studies) hello.studies.push_back(name);
  subject_.interposer->hello(hello);
  return hello;
}

void LibTorchBackend::load(const protocol::ProblemMessage& problem,
                           std::span<const std::byte> pool) {
  calls_.clear();
  kept_.clear();
  forget_timed();
  problem_ = problem;
  pool_ = pool;
  for (const auto& [form_name, text] : problem_.calls) {
    const auto form = parse_form(form_name);
    if (!form) throw HarnessError(fmt::format("load: no form is called '{}'", form_name));
    std::vector<std::string> names;
    for (const protocol::TensorMessage& t : problem_.inputs) names.push_back(t.name);
    if (form == Form::kOut) names.push_back(problem_.output.name);
    calls_[*form] = std::make_unique<Evaluator>(text, names, problem_.dims, problem_.attributes);
  }
  subject_.interposer->load(problem_);
}

const Evaluator& LibTorchBackend::call_text(Form form) const {
  const auto at = calls_.find(is_of_device(form) ? Form::kFunctional : form);
  if (at != calls_.end()) return *at->second;
  throw HarnessError(fmt::format("{}: no call of form '{}' was loaded", problem_.op, name(form)));
}

LibTorchBackend::PlacedTensors LibTorchBackend::place(const TrialMessage& trial) {
  PlacedTensors placed;
  for (const protocol::TensorMessage& t : problem_.inputs) placed.push_back(place_input(t, trial));
  if (trial.trial.form == Form::kOut) {
    placed.push_back(std::make_shared<Placed>(Placed::output(problem_, trial)));
  }
  return placed;
}

std::shared_ptr<Placed> LibTorchBackend::place_input(const protocol::TensorMessage& t,
                                                     const TrialMessage& trial) {
  const bool keeps =
      t.pool_stride == 0 && trial.trial.pad == 0 && !call_text(trial.trial.form).writes(t.name);
  std::shared_ptr<Placed>& kept = kept_[t.name];
  if (keeps && kept != nullptr && kept->plan() == protocol::plan_tensor(problem_, t, trial)) {
    return kept;
  }
  auto placed = std::make_shared<Placed>(Placed::input(problem_, t, trial, pool_));
  if (keeps) kept = placed;
  return placed;
}

at::Tensor LibTorchBackend::call(const TrialMessage& trial, const NamedTensors& tensors) {
  const Evaluator& evaluator = call_text(trial.trial.form);
  const HonestCall honest = [&](const NamedTensors& given) {
    return evaluator.run(given, problem_.output.name);
  };
  const Call once = [&](const NamedTensors& given) {
    return subject_.interposer->call({problem_, trial, given, honest});
  };
  const Form form = trial.trial.form;
  at::Tensor y = form == Form::kStream  ? beside_other_work(once, tensors)
                 : form == Form::kGraph ? from_graph(once, tensors, trial.trial.run)
                                        : once(tensors);
  check_output(y);
  return y;
}

unsigned LibTorchBackend::largest_team(int reset) const {
  return largest_team_ == nullptr ? 0 : largest_team_(reset);
}

TrialReply LibTorchBackend::run(const TrialMessage& trial, std::span<std::byte> output) {
  const c10::InferenceMode inference;
  TrialReply reply;
  forget_timed();
  set_threads(trial.threads);
  forget_damage();
  subject_.interposer->before(trial);
  const PlacedTensors placed = place(trial);
  for (const auto& p : placed) p->remember();
  poison_next(output_bytes(problem_, trial));
  synchronize();  // the inputs are there, also for streams of the kernel's own
  at::Tensor y;
  observe(trial, placed, reply, y);
  if (y.defined()) {
    reply.dtype = dtype_name(y.scalar_type());
    reply.shape = y.sizes().vec();
    reply.unwritten = protocol::count_poison(copy_elements(y, output), y.element_size());
  }
  report_changes(trial, placed, y, reply);
  if (reply.input_changed || reply.out_of_bounds) kept_.clear();
  subject_.interposer->after(reply);
  return reply;
}

void LibTorchBackend::observe(const TrialMessage& trial,
                              const PlacedTensors& placed,
                              TrialReply& reply,
                              at::Tensor& y) {
  for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
    const at::Tensor& x = placed[i]->tensor();
    reply.witness.address_mod_64.push_back(
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % 64));
    reply.witness.strides.push_back(x.strides().vec());
    reply.witness.shapes.push_back(x.sizes().vec());
    const bool of_batch = problem_.inputs[i].pool_stride != 0;
    if (of_batch) reply.witness.input_digest = placed[i]->digest(reply.witness.input_digest);
  }
  const NamedTensors tensors = by_name(placed);
  const Reached reached;
  largest_team(1);
  const bool ran = guarded(reply, [&] {
    y = call(trial, tensors);
    synchronize();
  });
  if (!ran) {
    y.reset();
    end_if_lost(reply.message.c_str());
  }
  reply.witness.form = bic::name(trial.trial.form);
  reply.witness.calls = ++calls_made_;
  reply.witness.largest_team = static_cast<int>(largest_team(0));
  reply.witness.reached = reached.overloads();
}

void LibTorchBackend::report_changes(const TrialMessage& trial,
                                     const PlacedTensors& placed,
                                     const at::Tensor& y,
                                     TrialReply& reply) const {
  const Evaluator& evaluator = call_text(trial.trial.form);
  for (const auto& p : placed) {
    if (evaluator.writes(p->name())) {
      // Its elements are the op's to write, the gaps between them are not.
      if (p->changed_between_elements()) reply.out_of_bounds = true;
      if (y.defined() && is_given(y, p->tensor())) reply.witness.gave_output = true;
    } else if (p->changed()) {
      reply.input_changed = true;
    }
  }
  const auto hold = [](const auto& p) { return p->guards_hold(); };
  if (guards_damaged() || !std::ranges::all_of(placed, hold)) reply.out_of_bounds = true;
}

const std::vector<NamedTensors>& LibTorchBackend::sets_to_time(
    const protocol::TimeMessage& request) {
  const nlohmann::json wanted{request.trial, request.copies, request.copies_common};
  if (wanted == timed_) return timed_sets_;
  timed_ = wanted;
  timed_sets_ = {by_name(place(request.trial))};
  while (static_cast<int>(timed_sets_.size()) < request.copies) {
    timed_sets_.push_back(request.copies_common ? timed_sets_[0] : by_name(place(request.trial)));
    if (!request.copies_common) continue;
    for (auto& [name, t] : timed_sets_.back()) t = t.clone();
  }
  return timed_sets_;
}

protocol::TimeReply LibTorchBackend::time(const protocol::TimeMessage& request,
                                          std::span<std::byte> output) {
  const c10::InferenceMode inference;
  const PoisonOff unpoisoned;
  protocol::TimeReply reply;
  set_threads(request.trial.threads);
  subject_.interposer->before(request.trial);
  const std::vector<NamedTensors>& sets = sets_to_time(request);
  const bool ran = guarded(reply, [&] {
    at::Tensor y = call(request.trial, sets[0]);
    reply.nanoseconds = nanoseconds_of([&] {
      for (int i = 0; i < request.calls; ++i) y = call(request.trial, sets[(i + 1) % sets.size()]);
    });
    copy_elements(y, output);
  });
  if (!ran) end_if_lost(reply.message.c_str());
  return reply;
}

nlohmann::json LibTorchBackend::study(const std::string& name,
                                      const nlohmann::json& request,
                                      std::span<std::byte> room) {
  const auto at = subject_.studies.find(name);
  if (at == subject_.studies.end()) return Backend::study(name, request, room);
  const c10::InferenceMode inference;
  set_threads(request.value("threads", usable_cores()));
  try {
    return at->second(request, room);
  } catch (const std::exception& e) {
    end_if_lost(e.what());
    throw;
  }
}

}  // namespace bic::libtorch
