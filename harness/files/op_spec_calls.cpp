#include "harness/files/op_spec_calls.h"

#include <fmt/format.h>

#include <functional>
#include <set>

#include "adapters/libtorch/call_text.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

/// Throws UsageError for a name that nothing has: of an input, a dim, an attribute, a dtype, what
/// an earlier step made, or a given output.
void check_names_used(const JsonNode& at,
                      const std::vector<libtorch::CallStep>& steps,
                      const OpSpec& op) {
  const Variant& v = op.variants[0];
  std::set<std::string> known{v.output.name};
  for (const TensorSpec& t : v.inputs) known.insert(t.name);
  for (const DimRange& d : op.dims) known.insert(d.name);
  for (const auto& [name, value] : v.attributes) known.insert(name);
  const std::function<void(const libtorch::CallValue&)> check = [&](const auto& value) {
    if (const auto* list = std::get_if<libtorch::CallValue::List>(&value.value)) {
      for (const auto& item : *list) check(item);
    }
    const auto* name = std::get_if<libtorch::CallName>(&value.value);
    if (name == nullptr || known.contains(name->text) || parse_dtype(name->text)) return;
    const std::vector<std::string> names(known.begin(), known.end());
    at.refuse(fmt::format("nothing is called '{}'{}", name->text, did_you_mean(name->text, names)));
  };
  for (const libtorch::CallStep& step : steps) {
    for (const auto& value : step.positional) check(value);
    for (const auto& [name, value] : step.named) check(value);
    known.insert(step.targets.begin(), step.targets.end());
  }
}

}  // namespace

std::string call_text(const JsonNode& at, const OpSpec& op) {
  std::string text = at.text();
  std::vector<libtorch::CallStep> steps;
  try {
    steps = libtorch::parse_call(text);
  } catch (const HarnessError& e) {
    at.refuse(e.what());
  }
  check_names_used(at, steps, op);
  return text;
}

std::string default_call(const OpSpec& op) {
  const Variant& v = op.variants[0];
  std::vector<std::string> arguments;
  for (const TensorSpec& t : v.inputs) arguments.push_back(t.name);
  for (const auto& [name, value] : v.attributes) arguments.push_back(name + "=" + name);
  return fmt::format("({}) = user::{}({})", v.output.name, op.name, fmt::join(arguments, ", "));
}

}  // namespace bic
