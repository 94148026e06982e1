#include "adapters/libtorch/op_watch.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "adapters/libtorch/placed.h"

namespace bic::libtorch {
namespace {

using nlohmann::json;
using SharedCall = std::shared_ptr<const CallSight>;

/// What stays of a call from its start to its end.
struct Begun final : at::ObserverContext {
  SharedCall call, caller;
  bool outermost = false;
  std::size_t first_inside = 0;
};

// A callback carries no state of its own; callbacks are thread-local, and so is what they see.
struct Watched {
  explicit Watched(std::function<void(const OpSight&)> see) : seen(std::move(see)) {}
  std::function<void(const OpSight&)> seen;
  SharedCall outermost;
  std::size_t ended = 0;
};
thread_local std::unique_ptr<Watched> watched;

const c10::FunctionSchema* schema_of(const c10::OperatorName& name) {
  thread_local std::unordered_map<c10::OperatorName, const c10::FunctionSchema*> known;
  const auto [at, added] = known.try_emplace(name, nullptr);
  if (!added) return at->second;
  const auto handle = c10::Dispatcher::singleton().findSchema(name);
  if (handle) at->second = &handle->schema();
  return at->second;
}

/// Its outputs lie in its inputs' memory, where it changed nothing.
bool makes_views(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.returns(), [](const c10::Argument& r) {
    return r.alias_info() != nullptr && !r.alias_info()->isWrite();
  });
}

TensorSight sight_of(const at::Tensor& t) {
  return {dtype_name(t.scalar_type()), t.sizes().vec(), t.strides().vec()};
}

std::string text_of(const c10::IValue& value) {
  if (value.isDouble()) return fmt::format("{:a}", value.toDouble());
  if (value.isInt()) return fmt::format("{}", value.toInt());
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isString()) return value.toStringRef();
  if (!value.isIntList()) return "";
  std::string list;
  for (const std::int64_t n : value.toIntVector()) {
    list += (list.empty() ? "" : ",") + std::to_string(n);
  }
  return "[" + list + "]";
}

/// Calls `use` with each defined tensor of a value, be it one or a list.
template <class Use>
bool each_tensor(const c10::IValue& value, Use use) {
  const auto one = [&](const at::Tensor& t) {
    if (t.defined()) use(t);
  };
  if (value.isTensor()) {
    one(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& t : value.toTensorVector()) one(t);
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& t : value.toOptionalTensorVector()) {
      if (t) one(*t);
    }
  } else {
    return false;
  }
  return true;
}

CallSight call_of(const c10::OperatorName& name,
                  const c10::FunctionSchema& schema,
                  c10::ArrayRef<const c10::IValue> inputs) {
  CallSight call{c10::toString(name), {}, {}};
  for (std::size_t i = 0; i < inputs.size() && i < schema.arguments().size(); ++i) {
    const auto add = [&](const at::Tensor& t) { call.inputs.push_back(sight_of(t)); };
    if (each_tensor(inputs[i], add)) continue;
    std::string text = text_of(inputs[i]);
    if (!text.empty()) call.options[schema.arguments()[i].name()] = std::move(text);
  }
  return call;
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  if (!name || watched == nullptr) return nullptr;
  const c10::FunctionSchema* schema = schema_of(*name);
  if (schema == nullptr) return nullptr;
  auto begun = std::make_unique<Begun>();
  begun->call = std::make_shared<CallSight>(call_of(*name, *schema, function.inputs()));
  begun->caller = watched->outermost;
  begun->outermost = watched->outermost == nullptr;
  begun->first_inside = watched->ended;
  if (begun->outermost) watched->outermost = begun->call;
  return begun;
}

void on_end(const at::RecordFunction& function, at::ObserverContext* context) {
  auto* begun = static_cast<Begun*>(context);
  if (begun == nullptr || watched == nullptr) return;
  if (begun->outermost) watched->outermost = nullptr;
  const c10::FunctionSchema* schema = schema_of(*function.operator_name());
  if (makes_views(*schema)) return;
  OpSight op{begun->call, begun->caller, {}, begun->first_inside};
  for (const c10::IValue& value : function.outputs()) {
    each_tensor(value, [&](const at::Tensor& t) { op.outputs.push_back(t); });
  }
  watched->seen(op);
  ++watched->ended;
}

/// Fills or copies, as a step of what the caller does or beside it.
bool only_moves(const CallSight& call) {
  constexpr std::array<std::string_view, 6> kMoves{"aten::copy_",
                                                   "aten::fill_.Scalar",
                                                   "aten::zero_",
                                                   "aten::clone",
                                                   "aten::_to_copy",
                                                   "aten::zeros"};
  return allocates(call) || std::ranges::find(kMoves, call.overload) != kMoves.end();
}

}  // namespace

void to_json(json& j, const TensorSight& t) {
  j = {{"dtype", t.dtype}, {"shape", t.shape}, {"strides", t.strides}};
}

void to_json(json& j, const CallSight& c) {
  j = {{"overload", c.overload}, {"inputs", c.inputs}, {"options", c.options}};
}

OpNote note_of(const OpSight& op) {
  OpNote note{op.call, op.caller, {}};
  for (const at::Tensor& t : op.outputs) note.outputs.push_back(sight_of(t));
  return note;
}

void to_json(json& j, const OpNote& o) {
  j = {{"call", *o.call}, {"outputs", o.outputs}};
  if (o.caller != nullptr) j["caller"] = *o.caller;
}

OpWatch::OpWatch(std::function<void(const OpSight&)> seen) {
  watched = std::make_unique<Watched>(std::move(seen));
  handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(on_start, on_end)
                                           .needsInputs(true)
                                           .needsOutputs(true)
                                           .scopes({at::RecordScope::FUNCTION}));
}

OpWatch::~OpWatch() {
  at::removeCallback(handle_);
  watched.reset();
}

bool allocates(const CallSight& call) {
  constexpr std::array<std::string_view, 3> kStarts{
      "aten::empty", "aten::new_empty", "aten::resize"};
  return std::ranges::any_of(kStarts,
                             [&](std::string_view s) { return call.overload.starts_with(s); });
}

void Producers::see(const OpSight& op) {
  const std::size_t number = seen_++;
  std::shared_ptr<const OpNote> note;
  for (const at::Tensor& t : op.outputs) {
    Writer& writer = by_storage_[t.storage().unsafeGetStorageImpl()];
    // What ran inside it wrote already, unless it only made the place.
    const bool is_known = writer.op != nullptr && !writer.only_moves;
    if (is_known && writer.number >= op.first_inside) continue;
    if (note == nullptr) note = std::make_shared<const OpNote>(note_of(op));
    writer = {number, only_moves(*op.call), note};
  }
}

std::shared_ptr<const OpNote> Producers::of(const at::Tensor& tensor) const {
  const auto at = by_storage_.find(tensor.storage().unsafeGetStorageImpl());
  return at == by_storage_.end() ? nullptr : at->second.op;
}

}  // namespace bic::libtorch
