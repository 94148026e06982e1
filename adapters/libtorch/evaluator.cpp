#include "adapters/libtorch/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/libtorch/device.h"
#include "adapters/libtorch/placed.h"
#include "results_schema/error.h"

namespace bic::libtorch {
namespace {

using List = CallValue::List;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

c10::OperatorHandle find_schema(const CallStep& step) {
  const auto op =
      c10::Dispatcher::singleton().findSchema({std::string(step.op), std::string(step.overload)});
  if (!op) throw HarnessError(fmt::format("{}: torch has no such operator", to_string(step)));
  return *op;
}

}  // namespace

/// Turns written values into IValues by the type the schema wants.
class Evaluator::Binder {
 public:
  Binder(std::vector<std::string> tensors, const Dims& dims, const Attributes& attributes)
      : tensors_(std::move(tensors)), dims_(dims), attributes_(attributes) {}

  Step bind(const CallStep& written) {
    text_ = to_string(written);
    Step step{find_schema(written), written.targets, {}};
    const c10::FunctionSchema& schema = step.op.schema();
    check_arguments(written, schema);
    for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
      step.arguments.push_back(argument(written, schema.arguments()[i], i));
    }
    tensors_.insert(tensors_.end(), written.targets.begin(), written.targets.end());
    return step;
  }

 private:
  [[noreturn]] void fail(const c10::Argument& argument, const std::string& why) const {
    throw HarnessError(fmt::format(
        "{}: argument '{}' ({}): {}", text_, argument.name(), argument.type()->str(), why));
  }

  void check_arguments(const CallStep& written, const c10::FunctionSchema& schema) const {
    const auto& all = schema.arguments();
    for (const auto& [name, value] : written.named) {
      const auto same = [&name = name](const c10::Argument& a) { return a.name() == name; };
      const auto at = std::find_if(all.begin(), all.end(), same);
      if (at == all.end()) throw HarnessError(fmt::format("{}: no argument '{}'", text_, name));
      if (static_cast<std::size_t>(at - all.begin()) < written.positional.size()) {
        fail(*at, "given twice");
      }
    }
    const auto open = std::count_if(
        all.begin(), all.end(), [](const c10::Argument& a) { return !a.kwarg_only(); });
    if (written.positional.size() > static_cast<std::size_t>(open)) {
      throw HarnessError(fmt::format("{}: at most {} positional arguments", text_, open));
    }
  }

  Source argument(const CallStep& written, const c10::Argument& argument, std::size_t i) const {
    if (i < written.positional.size()) return source(written.positional[i], argument);
    for (const auto& [name, value] : written.named) {
      if (name == argument.name()) return source(value, argument);
    }
    // What an op makes from nothing lies where its inputs do.
    if (on_cuda() && argument.name() == "device") return {device(), "", {}};
    if (!argument.default_value()) fail(argument, "missing");
    return {*argument.default_value(), "", {}};
  }

  Source source(const CallValue& value, const c10::Argument& argument) const {
    if (const auto* name = std::get_if<CallName>(&value.value)) {
      if (contains(tensors_, name->text)) return {{}, name->text, {}};
    }
    const auto* list = std::get_if<List>(&value.value);
    if (list != nullptr && is_tensor_list(argument)) {
      return {{}, "", tensor_names(*list, argument), is_index_list(argument)};
    }
    return {constant(value, argument, *argument.real_type()), "", {}};
  }

  /// Tensor?[], as index takes it.
  static bool is_index_list(const c10::Argument& argument) {
    return argument.type()->isSubtypeOf(*c10::ListType::ofOptionalTensors());
  }

  static bool is_tensor_list(const c10::Argument& argument) {
    return argument.type()->isSubtypeOf(*c10::ListType::ofTensors()) || is_index_list(argument);
  }

  std::vector<std::string> tensor_names(const List& list, const c10::Argument& argument) const {
    std::vector<std::string> names;
    for (const CallValue& item : list) {
      const auto* name = std::get_if<CallName>(&item.value);
      if (name == nullptr || !contains(tensors_, name->text)) fail(argument, "wants tensors");
      names.push_back(name->text);
    }
    return names;
  }

  /// A name replaced by the dim or attribute it stands for.
  CallValue resolved(const CallValue& value, const c10::Argument& argument) const {
    const auto* name = std::get_if<CallName>(&value.value);
    if (name == nullptr) return value;
    if (const auto at = dims_.find(name->text); at != dims_.end()) return {at->second};
    if (const auto at = attributes_.find(name->text); at != attributes_.end()) {
      return parse_attribute(at->second);
    }
    if (parse_dtype(name->text)) return {name->text};
    fail(argument, fmt::format("no tensor, dim or attribute '{}'", name->text));
  }

  c10::IValue constant(const CallValue& written,
                       const c10::Argument& argument,
                       const c10::Type& type) const {
    const CallValue value = resolved(written, argument);
    if (type.kind() == c10::TypeKind::OptionalType) {
      if (std::holds_alternative<std::monostate>(value.value)) return {};
      return constant(value, argument, *type.castRaw<c10::OptionalType>()->getElementType());
    }
    if (type.kind() == c10::TypeKind::ListType) return list(value, argument, type);
    return scalar(value, argument, type.kind());
  }

  c10::IValue list(const CallValue& value,
                   const c10::Argument& argument,
                   const c10::Type& type) const {
    const c10::TypePtr element = type.castRaw<c10::ListType>()->getElementType();
    c10::impl::GenericList items(
        element->kind() == c10::TypeKind::SymIntType ? c10::TypePtr(c10::IntType::get()) : element);
    const auto* written = std::get_if<List>(&value.value);
    // A single value where the schema says int[1]: as Python does it.
    if (written == nullptr && argument.N()) return list({List{value}}, argument, type);
    if (written == nullptr) fail(argument, "wants a list");
    for (const CallValue& item : *written) items.push_back(constant(item, argument, *element));
    return c10::IValue(std::move(items));
  }

  c10::IValue scalar(const CallValue& value,
                     const c10::Argument& argument,
                     c10::TypeKind kind) const {
    const auto* integer = std::get_if<std::int64_t>(&value.value);
    const auto* real = std::get_if<double>(&value.value);
    const auto* boolean = std::get_if<bool>(&value.value);
    const auto* text = std::get_if<std::string>(&value.value);
    switch (kind) {
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
        if (integer != nullptr) return *integer;
        if (real != nullptr && *real == static_cast<double>(static_cast<std::int64_t>(*real))) {
          return static_cast<std::int64_t>(*real);
        }
        break;
      case c10::TypeKind::FloatType:
        if (integer != nullptr) return static_cast<double>(*integer);
        if (real != nullptr) return *real;
        break;
      case c10::TypeKind::NumberType:
        if (integer != nullptr) return *integer;
        if (real != nullptr) return *real;
        [[fallthrough]];
      case c10::TypeKind::BoolType:
        if (boolean != nullptr) return *boolean;
        break;
      case c10::TypeKind::StringType:
        if (text != nullptr) return *text;
        break;
      case c10::TypeKind::ScalarTypeType:
        if (text != nullptr && parse_dtype(*text)) {
          return static_cast<std::int64_t>(scalar_type(*parse_dtype(*text)));
        }
        break;
      default:
        break;
    }
    fail(argument, "the value does not fit");
  }

  std::vector<std::string> tensors_;
  const Dims& dims_;
  const Attributes& attributes_;
  std::string text_;
};

Evaluator::Evaluator(std::string_view text,
                     const std::vector<std::string>& tensors,
                     const Dims& dims,
                     const Attributes& attributes) {
  Binder binder(tensors, dims, attributes);
  for (const CallStep& step : parse_call(text)) steps_.push_back(binder.bind(step));
  for (const Step& step : steps_) {
    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
      const auto* alias = step.op.schema().arguments()[i].alias_info();
      const std::string& name = step.arguments[i].tensor;
      if (alias != nullptr && alias->isWrite() && contains(tensors, name)) written_.push_back(name);
    }
  }
}

/// What a run has at hand: the tensors given, hidden by those that earlier steps made.
class Evaluator::Scope {
 public:
  explicit Scope(const NamedTensors& given) : given_(given) {}

  torch::jit::Stack stack(const Step& step) const {
    torch::jit::Stack stack;
    for (const Source& source : step.arguments) {
      if (!source.tensor.empty()) {
        stack.emplace_back(find(source.tensor));
      } else if (!source.list.empty()) {
        stack.push_back(source.optional ? list_of<std::optional<at::Tensor>>(source.list)
                                        : list_of<at::Tensor>(source.list));
      } else {
        stack.push_back(source.constant);
      }
    }
    return stack;
  }

  void bind(const Step& step, const torch::jit::Stack& results) {
    if (results.size() < step.targets.size()) {
      throw HarnessError(fmt::format("{}: fewer results than targets", step.op.schema().name()));
    }
    for (std::size_t i = 0; i < step.targets.size(); ++i) {
      if (step.targets[i] != "_") made_[step.targets[i]] = results[i].toTensor();
    }
    if (!results.empty() && results[0].isTensor()) last_ = results[0].toTensor();
  }

  at::Tensor output(const std::string& name) const {
    const auto at = made_.find(name);
    return at == made_.end() ? last_ : at->second;
  }

 private:
  template <class Item>
  c10::IValue list_of(const std::vector<std::string>& names) const {
    c10::List<Item> list;
    for (const std::string& name : names) list.push_back(find(name));
    return list;
  }

  const at::Tensor& find(const std::string& name) const {
    if (const auto at = made_.find(name); at != made_.end()) return at->second;
    if (const auto at = given_.find(name); at != given_.end()) return at->second;
    throw HarnessError(fmt::format("call text: no tensor '{}' was given", name));
  }

  const NamedTensors& given_;
  NamedTensors made_;
  at::Tensor last_;
};

bool Evaluator::writes(const std::string& tensor) const { return contains(written_, tensor); }

at::Tensor Evaluator::run(const NamedTensors& tensors, const std::string& output) const {
  Scope scope(tensors);
  for (const Step& step : steps_) {
    torch::jit::Stack stack = scope.stack(step);
    step.op.callBoxed(stack);
    scope.bind(step, stack);
  }
  return scope.output(output);
}

}  // namespace bic::libtorch
