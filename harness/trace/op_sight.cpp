#include "harness/trace/op_sight.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results_schema/vocabulary.h"

namespace bic {
namespace {

bool is_row_major(const TensorSight& t) {
  std::int64_t step = 1;
  for (std::size_t i = t.shape.size(); i-- > 0;) {
    if (t.shape[i] != 1 && t.strides[i] != step) return false;
    step *= t.shape[i];
  }
  return true;
}

std::string to_text(const TensorSight& t) {
  std::string text = t.dtype + " " + shape_text(t.shape);
  return is_row_major(t) ? text : text + " strides " + shape_text(t.strides);
}

}  // namespace

void from_json(const nlohmann::json& j, TensorSight& t) {
  j.at("dtype").get_to(t.dtype);
  j.at("shape").get_to(t.shape);
  j.at("strides").get_to(t.strides);
}

void from_json(const nlohmann::json& j, CallSight& c) {
  j.at("overload").get_to(c.overload);
  j.at("inputs").get_to(c.inputs);
  j.at("options").get_to(c.options);
}

void from_json(const nlohmann::json& j, OpSight& o) {
  j.at("call").get_to(o.call);
  j.at("outputs").get_to(o.outputs);
  if (j.contains("caller")) o.caller = j.at("caller").get<CallSight>();
}

void to_json(nlohmann::json& j, const TensorSight& t) {
  j = {{"dtype", t.dtype}, {"shape", t.shape}, {"strides", t.strides}};
}

void to_json(nlohmann::json& j, const CallSight& c) {
  j = {{"overload", c.overload}, {"inputs", c.inputs}, {"options", c.options}};
}

void to_json(nlohmann::json& j, const OpSight& o) {
  j = {{"call", o.call}, {"outputs", o.outputs}};
  if (o.caller) j["caller"] = *o.caller;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

std::string to_text(const CallSight& call) {
  std::vector<std::string> inputs;
  for (const TensorSight& t : call.inputs) inputs.push_back(to_text(t));
  return fmt::format("{}({})", call.overload, fmt::join(inputs, ", "));
}

std::string to_text(const OpSight& op) {
  return to_text(op.call) + (op.caller ? ", called by " + to_text(*op.caller) : "");
}

bool is_own(const OpSight& op, const OwnOverloads& own) {
  const auto of_values = [](const TensorSight& t) { return parse_dtype(t.dtype).has_value(); };
  return own.contains(op.call.overload) && std::ranges::any_of(op.outputs, of_values);
}

}  // namespace bic
