#include "adapters/libtorch/lifted_call.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "adapters/libtorch/placed.h"
#include "suites/ops/input_values.h"

namespace bic::libtorch {
namespace {

using List = CallValue::List;

/// A value of ATen's as a call text would write it; nothing for tensors and the like.
std::optional<CallValue> written_as(const c10::IValue& value, bool is_dtype) {
  if (value.isNone()) return CallValue{std::monostate{}};
  if (value.isBool()) return CallValue{value.toBool()};
  if (value.isInt() && is_dtype) {
    return CallValue{CallName{dtype_name(static_cast<at::ScalarType>(value.toInt()))}};
  }
  if (value.isInt()) return CallValue{value.toInt()};
  if (value.isDouble()) return CallValue{value.toDouble()};
  if (value.isString()) return CallValue{value.toStringRef()};
  if (!value.isList()) return {};
  List list;
  for (const c10::IValue& item : value.toListRef()) {
    auto written = written_as(item, is_dtype);
    if (!written) return {};
    list.push_back(std::move(*written));
  }
  return CallValue{std::move(list)};
}

std::optional<double> number(const CallValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* real = std::get_if<double>(&value.value)) return *real;
  return {};
}

/// "k", "8", "B" or "8*B": texts whose equality says that extents are equal.
bool is_plain(std::string_view axis) {
  if (axis.ends_with("*B")) axis.remove_suffix(2);
  return std::ranges::all_of(axis,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool is_number(std::string_view axis) {
  return std::isdigit(static_cast<unsigned char>(axis.front())) != 0 && !axis.ends_with("*B");
}

at::ScalarType type_of(const TensorSpec& t, DType dtype) {
  if (t.elements == Elements::kIndices) return at::kLong;
  return t.elements == Elements::kBools ? at::kBool : scalar_type(dtype);
}

/// Where it is one call of an overload that torch has and that returns one tensor: that call.
std::optional<std::pair<CallStep, c10::OperatorHandle>> one_call(const std::string& text) {
  std::vector<CallStep> steps = parse_call(text);
  if (steps.size() != 1) return {};
  const auto found = c10::Dispatcher::singleton().findSchema({steps[0].op, steps[0].overload});
  if (!found) return {};
  const auto& returns = found->schema().returns();
  if (returns.size() != 1 || !returns[0].type()->isSubtypeOf(*c10::TensorType::get())) return {};
  return std::pair{std::move(steps[0]), *found};
}

}  // namespace

LiftedCall::LiftedCall(const OpSpec& op,
                       const Variant& variant,
                       Form form,
                       c10::OperatorHandle overload)
    : op_(&op),
      variant_(&variant),
      form_(form),
      text_(form == Form::kFunctional ? &variant.call : &variant.forms.at(std::string(name(form)))),
      overload_(std::move(overload)) {}

std::optional<LiftedCall> LiftedCall::of(const OpSpec& op, const Variant& variant, Form form) {
  if (form != Form::kFunctional && !variant.forms.contains(std::string(name(form)))) return {};
  const auto call = one_call(form == Form::kFunctional ? variant.call
                                                       : variant.forms.at(std::string(name(form))));
  if (!call) return {};
  LiftedCall lifted(op, variant, form, call->second);
  if (!lifted.shapes_say_the_outputs() || !lifted.fill_slots(call->first)) return {};
  return lifted;
}

bool LiftedCall::shapes_say_the_outputs() const {
  std::vector<std::string> known;
  for (const TensorSpec& t : variant_->inputs) {
    if (!std::ranges::all_of(t.axes, is_plain)) return false;
    known.insert(known.end(), t.axes.begin(), t.axes.end());
  }
  return std::ranges::all_of(variant_->output.axes, [&](const std::string& axis) {
    return is_number(axis) || std::ranges::find(known, axis) != known.end();
  });
}

/// False where an input of the variant, or what a call in place writes to, is no argument by
/// itself.
bool LiftedCall::fill_slots(const CallStep& step) {
  const auto& arguments = overload_.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto named = std::ranges::find(
        step.named, arguments[i].name(), &std::pair<std::string, CallValue>::first);
    if (i < step.positional.size()) {
      slots_.push_back(slot_of(step.positional[i], arguments[i]));
    } else if (named != step.named.end()) {
      slots_.push_back(slot_of(named->second, arguments[i]));
    } else if (const auto fallback = arguments[i].default_value(); fallback) {
      const auto written = written_as(*fallback, false);
      if (!written) return false;
      slots_.push_back({.written = *written});
    } else {
      return false;
    }
  }
  const bool all = std::ranges::all_of(variant_->inputs, [&](const TensorSpec& t) {
    return std::ranges::find(slots_, &t, &Slot::tensor) != slots_.end();
  });
  return all && (form_ != Form::kInplace || slots_.front().tensor != nullptr);
}

LiftedCall::Slot LiftedCall::slot_of(const CallValue& written,
                                     const c10::Argument& argument) const {
  Slot slot{.written = written};
  slot.is_dtype = argument.real_type()->str().find("ScalarType") != std::string::npos;
  const auto* name = std::get_if<CallName>(&written.value);
  if (name == nullptr) return slot;
  const auto at = std::ranges::find(variant_->inputs, name->text, &TensorSpec::name);
  if (at != variant_->inputs.end()) slot.tensor = &*at;
  if (form_ == Form::kOut && name->text == variant_->output.name) slot.tensor = &variant_->output;
  return slot;
}

/// One call's arguments against one variant: tensors first, which say the dims.
class LiftedCall::Binding {
 public:
  Binding(const LiftedCall& call, DType dtype)
      : variant_(*call.variant_),
        form_(call.form_),
        dtype_(dtype),
        bound_{.inputs = std::vector<at::Tensor>(variant_.inputs.size()),
               .output_type = scalar_type(variant_.output_dtype.value_or(dtype)),
               .attributes = variant_.attributes} {}

  bool take_tensor(const TensorSpec& spec, const c10::IValue& value) {
    if (!value.isTensor()) return false;
    const at::Tensor& t = value.toTensor();
    if (!t.defined() || t.layout() != at::kStrided || !t.is_cpu()) return false;
    if (&spec == &variant_.output) {
      bound_.output = t;
      return true;
    }
    if (t.scalar_type() != type_of(spec, dtype_) || !take_shape(spec, t.sizes())) return false;
    bound_.inputs[index(spec)] = t;
    return true;
  }

  /// Whether the value is what the text says; an attribute's is kept.
  bool take_value(const CallValue& written, const CallValue& given) {
    if (const auto* name = std::get_if<CallName>(&written.value)) return take_name(*name, given);
    const auto *list = std::get_if<List>(&written.value), *items = std::get_if<List>(&given.value);
    if (items != nullptr && list == nullptr) {  // a single value where the schema says int[1]
      return items->size() == 1 && take_value(written, items->front());
    }
    if (list != nullptr) {
      return items != nullptr &&
             std::ranges::equal(*list, *items, [this](const CallValue& a, const CallValue& b) {
               return take_value(a, b);
             });
    }
    const auto a = number(written), b = number(given);
    return a && b ? *a == *b : written == given;
  }

  /// `written`: the input that a call in place writes to.
  std::optional<Bound> finish(const TensorSpec* written) {
    for (const std::string& axis : variant_.output.axes) {
      bound_.output_shape.push_back(is_number(axis) ? std::stoll(axis) : extents_.at(axis));
    }
    if (form_ == Form::kInplace) bound_.output = bound_.inputs[index(*written)];
    at::Tensor& y = bound_.output;
    if (!y.defined()) return std::move(bound_);
    if (form_ == Form::kOut && y.numel() == 0) y.resize_(bound_.output_shape);
    if (y.scalar_type() != bound_.output_type || y.sizes() != bound_.output_shape) return {};
    return std::move(bound_);
  }

 private:
  std::size_t index(const TensorSpec& input) const {
    return static_cast<std::size_t>(&input - variant_.inputs.data());
  }

  bool take_shape(const TensorSpec& spec, at::IntArrayRef sizes) {
    if (sizes.size() != spec.axes.size()) return false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::string& axis = spec.axes[i];
      if (sizes[i] == 0) return false;
      const std::int64_t extent =
          is_number(axis) ? std::stoll(axis) : extents_.try_emplace(axis, sizes[i]).first->second;
      if (extent != sizes[i]) return false;
    }
    return true;
  }

  bool take_name(const CallName& name, const CallValue& given) {
    if (const auto at = extents_.find(name.text); at != extents_.end()) {
      return number(given) == static_cast<double>(at->second);
    }
    if (const auto at = bound_.attributes.find(name.text); at != bound_.attributes.end()) {
      const bool both =
          number(given).has_value() == number(parse_attribute(at->second)).has_value();
      at->second = attribute_text(given);
      return both;
    }
    const auto* dtype = std::get_if<CallName>(&given.value);
    return dtype != nullptr && dtype->text == name.text;
  }

  const Variant& variant_;
  Form form_;
  DType dtype_;
  std::map<std::string, std::int64_t, std::less<>> extents_;
  Bound bound_;
};

std::optional<Bound> LiftedCall::bind(c10::ArrayRef<c10::IValue> arguments, DType dtype) const {
  Binding binding(*this, dtype);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.tensor != nullptr && !binding.take_tensor(*slot.tensor, arguments[i])) return {};
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.tensor != nullptr) continue;
    const auto given = written_as(arguments[i], slot.is_dtype);
    if (!given || !binding.take_value(slot.written, *given)) return {};
  }
  return binding.finish(slots_.front().tensor);
}

}  // namespace bic::libtorch
