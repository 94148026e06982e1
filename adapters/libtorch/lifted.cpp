#include "adapters/libtorch/lifted.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/Parallel.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/library.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "adapters/libtorch/lifted_manifest.h"
#include "adapters/libtorch/placed.h"
#include "adapters/libtorch_invariant/silence.h"
#include "adapters/plugin/call.h"

namespace bic::libtorch {
namespace {

using protocol::Outcome;

bic_dtype type_of(at::ScalarType type) {
  return plugin::dtype_of(type == at::kLong ? "int64" : dtype_name(type));
}

/// A tensor as a plug-in sees it. `shape` is its own copy, which may be written to.
bic_tensor view(const std::string& name, const at::Tensor& t, std::vector<std::int64_t>& shape) {
  constexpr std::uintptr_t kAlignment = 64;
  shape = t.sizes().vec();
  auto* const first = static_cast<char*>(t.data_ptr());
  const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(first) % kAlignment;
  return {BIC_PLUGIN_STRUCT(bic_tensor),
          name.c_str(),
          first - beyond,
          BIC_CPU,
          0,
          static_cast<std::int32_t>(shape.size()),
          type_of(t.scalar_type()),
          shape.data(),
          t.strides().data(),
          beyond};
}

void check_as_left(const bic_tensor& left, const at::Tensor& y, const std::string& op) {
  const bool same =
      plugin::dtype_name(left.dtype) == plugin::dtype_name(type_of(y.scalar_type())) &&
      at::IntArrayRef(left.shape, left.ndim) == y.sizes();
  if (same) return;
  throw std::runtime_error(
      fmt::format("the plug-in gave the output of {} another shape or type: {} [{}]",
                  op,
                  plugin::dtype_name(left.dtype),
                  fmt::join(left.shape, left.shape + left.ndim, ",")));
}

}  // namespace

/// One overload: the plug-in's where a call is one of its variants, else stock.
class Lift::Override final : public c10::OperatorKernel {
 public:
  Override(Lift& lift,
           const std::vector<std::pair<LiftedCall, std::vector<DType>>>& calls,
           c10::SafeKernelFunction stock)
      : lift_(lift), calls_(calls), stock_(std::move(stock)) {}

  void operator()(const c10::OperatorHandle& op,
                  c10::DispatchKeySet keys,
                  torch::jit::Stack* stack) {
    const std::size_t count = op.schema().arguments().size();
    for (const auto& [call, dtypes] : calls_) {
      for (const DType dtype : dtypes) {
        const auto bound = call.bind(torch::jit::last(*stack, count), dtype);
        if (!bound) continue;
        lift_.note(call.op().name);
        if (lift_.looks_only_) return stock_.callBoxed(op, keys, stack);
        at::Tensor y = lift_.run(call, *bound);
        torch::jit::drop(*stack, count);
        stack->emplace_back(std::move(y));
        return;
      }
    }
    stock_.callBoxed(op, keys, stack);
  }

 private:
  Lift& lift_;
  const std::vector<std::pair<LiftedCall, std::vector<DType>>>& calls_;
  c10::SafeKernelFunction stock_;
};

struct Lift::Libraries {
  torch::Library cpu{torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__};
};

Lift::Lift(const std::string& path) : library_(path) {
  for (const protocol::ManifestEntry& claim : library_.manifest()) {
    if (collect(claim) == 0) left_out_.push_back(claim.op);
  }
  if (calls_.empty()) {
    throw std::runtime_error("--lift: no op that the plug-in claims is one call of ATen's");
  }
  libtorch_invariant::Silence silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  libraries_ = std::make_unique<Libraries>();
  for (const auto& [overload, calls] : calls_) {
    overloads_.push_back(overload);
    const c10::OperatorHandle& op = calls.front().first.overload();
    auto kernel = std::make_unique<Override>(
        *this, calls, op.getComputedKernelForDispatchKey(c10::DispatchKey::CPU));
    libraries_->cpu.impl(overload.c_str(),
                         torch::CppFunction::makeFromBoxedFunctor(std::move(kernel)));
  }
}

Lift::~Lift() = default;

/// Takes the calls of the op, and returns their number.
std::size_t Lift::collect(const protocol::ManifestEntry& claim) {
  const OpSpec* const op = find_op(claim.op);
  if (op == nullptr) return 0;
  std::size_t count = 0;
  for (const Variant& variant : op->variants) {
    for (const Form form : {Form::kFunctional, Form::kOut, Form::kInplace}) {
      if (std::ranges::find(claim.lacks, form) != claim.lacks.end()) continue;
      auto call = LiftedCall::of(*op, variant, form);
      if (!call) continue;
      const std::string overload = c10::toString(call->overload().operator_name());
      calls_[overload].emplace_back(std::move(*call), claim.dtypes);
      ++count;
    }
  }
  return count;
}

at::Tensor Lift::run(const LiftedCall& call, const Bound& bound) {
  const at::Tensor y =
      bound.output.defined() ? bound.output : at::empty(bound.output_shape, bound.output_type);
  at::assert_no_internal_overlap(y);
  std::vector<std::vector<std::int64_t>> shapes(bound.inputs.size() + 1);
  std::vector<bic_tensor> inputs;
  for (std::size_t i = 0; i < bound.inputs.size(); ++i) {
    const bool aliased = call.form() == Form::kInplace && bound.inputs[i].is_same(y);
    if (!aliased) at::assert_no_overlap(y, bound.inputs[i]);
    inputs.push_back(view(call.variant().inputs[i].name, bound.inputs[i], shapes[i]));
  }
  plugin::Call made({call.op().name,
                     call.variant().name,
                     call.text(),
                     call.form(),
                     at::get_num_threads(),
                     bound.attributes},
                    std::move(inputs),
                    view(call.variant().output.name, y, shapes.back()));
  std::string message;
  const Outcome outcome = made.make(library_, message);
  silent_ |= made.team() < 0;
  stated_team_ = std::max(stated_team_, made.team());
  TORCH_CHECK_NOT_IMPLEMENTED(outcome != Outcome::kRefused, message);
  if (outcome != Outcome::kRan) throw std::runtime_error(message);
  check_as_left(made.output(), y, call.op().name);
  return y;
}

void Lift::forget() {
  reached_.clear();
  stated_team_ = 0;
  silent_ = false;
}

void Lift::note(const std::string& op) { reached_.insert("plugin::" + op); }

int Lift::team(int seen) const {
  // As for a plug-in by itself: a team that nobody saw and nobody states may have any size.
  if (silent_ && seen == 0) return -1;
  return std::max(seen, stated_team_);
}

namespace {

/// Says of each trial what the plug-in did in it.
class Lifting final : public Interposer {
 public:
  explicit Lifting(std::shared_ptr<Lift> lift) : lift_(std::move(lift)) {}

  void hello(protocol::Hello& hello) override {
    hello.fingerprint["plugin"] = lift_->library().title();
    if (!lift_->left_out().empty()) {
      hello.fingerprint["not_lifted"] = fmt::to_string(fmt::join(lift_->left_out(), " "));
    }
    hello.fingerprint["lifted"] = fmt::to_string(fmt::join(lift_->overloads(), " "));
    for (const std::string& file : lift_->library().files()) hello.libraries.push_back(file);
  }
  void before(const protocol::TrialMessage&) override { lift_->forget(); }
  void after(protocol::TrialReply& reply) override {
    auto& reached = reply.witness.reached;
    reached.insert(reached.end(), lift_->reached().begin(), lift_->reached().end());
    reply.witness.largest_team = lift_->team(reply.witness.largest_team);
  }

 private:
  std::shared_ptr<Lift> lift_;
};

}  // namespace

Subject lifted(std::string name, const std::string& path) {
  const auto lift = std::make_shared<Lift>(path);
  LibTorchBackend looking({name, {}, std::make_unique<Lifting>(lift), lift}, nullptr);
  libtorch_invariant::Silence silence;  // stock warns where a given output has another shape
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  lift->look_only(true);
  auto manifest = lifted_manifest(looking, lift->library().manifest());
  lift->look_only(false);
  return {std::move(name), std::move(manifest), std::make_unique<Lifting>(lift), lift};
}

}  // namespace bic::libtorch
