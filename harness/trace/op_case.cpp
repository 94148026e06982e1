#include "harness/trace/op_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "harness/trace/unify.h"
#include "results_schema/shape.h"

namespace bic {
namespace {

using Shape = std::vector<std::int64_t>;
using Shapes = std::vector<Shape>;

/// How the tensors of a call become those of the suite's declaration.
enum class Axes : std::uint8_t {
  kAsTheyAre,
  kRows,      ///< all but the last are one: the op knows rows only
  kElements,  ///< all but the first are one: the op knows elements only
};

/// An overload that the suite has an op for.
struct Rule {
  std::string_view overload;
  std::string_view op;
  Axes axes = Axes::kAsTheyAre;
  std::vector<std::size_t> order;     ///< of the inputs, where it is not the declaration's
  std::vector<std::string> variants;  ///< in question; empty: all
  std::function<bool(const CallSight&, const Variant&)> fits;  ///< null: always
  std::map<std::string, std::string> attributes;  ///< attribute by the option that says it
};

bool is(const CallSight& call, const std::string& option, std::string_view value) {
  const auto at = call.options.find(option);
  return at != call.options.end() && at->second == value;
}

/// Over the last axis alone.
bool along_rows(const CallSight& call, const Variant&) {
  const std::string last = std::to_string(call.inputs.at(0).shape.size() - 1);
  return is(call, "dim", "-1") || is(call, "dim", last) || is(call, "dim", "[-1]") ||
         is(call, "dim", "[" + last + "]");
}

bool keeps_dim(const CallSight& call, const Variant& v) {
  return along_rows(call, v) && is(call, "keepdim", v.name == "keepdim" ? "True" : "False");
}

bool keeps_dtype(const CallSight& call, const Variant& v) {
  const bool converts = call.options.contains("dtype") || is(call, "half_to_float", "True");
  return along_rows(call, v) && (!converts || call.inputs.at(0).dtype == "fp32");
}

/// Patches side by side, without padding.
bool tiles(const CallSight& call, const Variant&) {
  const Shape& w = call.inputs.at(1).shape;
  const bool whole =
      is(call, "padding", "valid") || is(call, "padding", "[0,0]") || is(call, "padding", "[0]");
  return whole && w.size() == 4 && is(call, "stride", fmt::format("[{},{}]", w[2], w[3]));
}

bool unscaled(const CallSight& call, const Variant&) {
  return is(call, "beta", "1") && is(call, "alpha", "1");
}

bool same_gelu(const CallSight& call, const Variant& v) {
  return is(call, "approximate", v.name == "tanh" ? "tanh" : "none");
}

bool with_alpha_1(const CallSight& call, const Variant& v) {
  return v.attributes.empty() && (!call.options.contains("alpha") || is(call, "alpha", "1"));
}

/// A square is one product, which every kernel rounds in the same way.
bool is_no_square(const CallSight& call, const Variant&) { return !is(call, "exponent", "2"); }

Rule pointwise(std::string_view overload, std::string_view op) {
  return {overload, op, Axes::kElements, {}, {""}, nullptr, {}};
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules{
      {"aten::linear", "linear"},
      {"aten::matmul", "matmul"},
      {"aten::mm", "mm"},
      {"aten::bmm", "bmm", Axes::kAsTheyAre, {}, {""}},
      {"aten::addmm", "addmm", Axes::kAsTheyAre, {1, 2, 0}, {"", "matrix"}, unscaled},
      {"aten::baddbmm", "baddbmm", Axes::kAsTheyAre, {1, 2, 0}, {""}, unscaled},
      {"aten::conv2d", "conv2d", Axes::kAsTheyAre, {}, {"patch"}, tiles},
      {"aten::conv2d.padding", "conv2d", Axes::kAsTheyAre, {}, {"patch"}, tiles},
      {"aten::convolution", "conv2d", Axes::kAsTheyAre, {}, {"patch"}, tiles},
      {"aten::softmax.int", "softmax", Axes::kRows, {}, {""}, keeps_dtype},
      {"aten::_softmax", "softmax", Axes::kRows, {}, {""}, keeps_dtype},
      {"aten::log_softmax.int", "log_softmax", Axes::kRows, {}, {""}, keeps_dtype},
      {"aten::_log_softmax", "log_softmax", Axes::kRows, {}, {""}, keeps_dtype},
      {"aten::mean.dim", "mean", Axes::kRows, {}, {"keepdim", ""}, keeps_dim},
      {"aten::sum.dim_IntList", "sum", Axes::kRows, {}, {"keepdim", ""}, keeps_dim},
      {"aten::sum.IntList_out", "sum", Axes::kRows, {0}, {"keepdim", ""}, keeps_dim},
      {"aten::layer_norm", "layer_norm", Axes::kAsTheyAre, {}, {"", "r3"}, {}, {{"eps", "eps"}}},
      {"aten::native_layer_norm",
       "layer_norm",
       Axes::kAsTheyAre,
       {},
       {"", "r3"},
       {},
       {{"eps", "eps"}}},
      {"aten::gelu", "gelu", Axes::kElements, {}, {"", "tanh"}, same_gelu},
      {"aten::pow.Tensor_Scalar",
       "pow",
       Axes::kElements,
       {},
       {""},
       is_no_square,
       {{"exponent", "exponent"}}},
      {"aten::add.Tensor", "add", Axes::kElements, {}, {""}, with_alpha_1},
      {"aten::mul.Tensor", "mul", Axes::kElements, {}, {""}},
      {"aten::div.Tensor", "div", Axes::kElements, {}, {""}},
      pointwise("aten::silu", "silu"),
      pointwise("aten::tanh", "tanh"),
      pointwise("aten::exp", "exp"),
      pointwise("aten::sin", "sin"),
      pointwise("aten::cos", "cos"),
      pointwise("aten::rsqrt", "rsqrt"),
      pointwise("aten::sigmoid", "sigmoid")};
  return kRules;
}

/// Ops that need no case, by name; with its overload where the others are not meant.
struct NoCase {
  std::string_view reason;
  std::string_view names;  ///< between spaces
};

constexpr NoCase kWithoutCases[] = {
    {"moves bytes",
     "copy_ clone contiguous _to_copy to cat stack embedding index index_put index_put_ "
     "_index_put_impl_ index_select gather where repeat reshape flatten _unsafe_view as_strided_ "
     "zero_ fill_ resize_ lift_fresh _local_scalar_dense item set_"},
    {"makes constants",
     "arange full zeros ones empty empty_like empty_strided new_empty zeros_like ones_like "
     "new_zeros scalar_tensor linspace full_like"},
    {"compares or counts: no rounding",
     "eq ne le lt ge gt bitwise_and logical_and bitwise_not logical_not nonzero argmax result_type "
     "isnan any all is_nonzero"},
    {"hands on to other calls, which have cases",
     "softmax log_softmax layer_norm conv2d _convolution_mode linear matmul"},
    {"one rounding an element, of operands whose shapes the suite has not got",
     "add add_ sub sub_ mul mul_ div div_ neg clamp reciprocal rsub sqrt"},
    {"a square: one rounding an element", "pow.Tensor_Scalar"}};

bool has_word(std::string_view words, std::string_view word) {
  return fmt::format(" {} ", words).find(fmt::format(" {} ", word)) != std::string::npos;
}

Shape flattened(const Shape& shape, Axes axes) {
  if (axes == Axes::kAsTheyAre || shape.size() < 2 || element_count(shape) == 0) return shape;
  const std::int64_t kept = axes == Axes::kRows ? shape.back() : shape.front();
  const std::int64_t others = element_count(shape) / kept;
  return axes == Axes::kRows ? Shape{others, kept} : Shape{kept, others};
}

Shapes shapes_of(const CallSight& call, const Rule& rule) {
  Shapes shapes;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!rule.order.empty() && i >= rule.order.size()) break;
    const std::size_t from = rule.order.empty() ? i : rule.order[i];
    if (from >= call.inputs.size()) return {};
    shapes.push_back(flattened(call.inputs[from].shape, rule.axes));
  }
  return shapes;
}

/// A dtype that the op is declared in, the same of all inputs.
std::optional<DType> dtype_of(const CallSight& call, const OpSpec& op) {
  if (call.inputs.empty()) return {};
  const auto dtype = parse_dtype(call.inputs[0].dtype);
  const auto other = [&](const TensorSight& t) { return t.dtype != call.inputs[0].dtype; };
  if (!dtype || std::ranges::any_of(call.inputs, other)) return {};
  if (std::ranges::find(op.dtypes, *dtype) == op.dtypes.end()) return {};
  return dtype;
}

std::optional<OpCase> case_by(const Rule& rule, const CallSight& call) {
  const OpSpec* op = find_op(rule.op);
  const auto dtype = dtype_of(call, *op);
  if (!dtype) return {};
  const Shapes shapes = shapes_of(call, rule);
  for (const Variant& v : op->variants) {
    const bool asked =
        rule.variants.empty() || std::ranges::find(rule.variants, v.name) != rule.variants.end();
    if (!asked || (rule.fits && !rule.fits(call, v))) continue;
    const auto solved = unify(v.inputs, shapes);
    if (!solved) continue;
    OpCase c{op, &v, *dtype, solved->dims, v.attributes, solved->batch};
    for (const auto& [attribute, option] : rule.attributes) {
      c.attributes[attribute] = call.options.at(option);
    }
    return c;
  }
  return {};
}

/// Nothing in it is a number with a fraction.
bool is_exact(const CallSight& call) {
  return std::ranges::none_of(
      call.inputs, [](const TensorSight& t) { return parse_dtype(t.dtype).has_value(); });
}

bool has_no_batch(const CallSight& call) {
  return std::ranges::all_of(call.inputs, [](const TensorSight& t) { return t.shape.size() < 2; });
}

}  // namespace

bool name_it(std::string_view words, std::string_view overload) {
  overload.remove_prefix(overload.rfind(':') + 1);
  return has_word(words, overload) || has_word(words, overload.substr(0, overload.find('.')));
}

std::variant<OpCase, std::string> op_case(const CallSight& call) {
  for (const Rule& rule : rules()) {
    if (rule.overload != call.overload) continue;
    if (const auto found = case_by(rule, call)) return *found;
  }
  for (const NoCase& n : kWithoutCases) {
    if (name_it(n.names, call.overload)) return std::string(n.reason);
  }
  if (is_exact(call)) return "integers: no rounding";
  if (has_no_batch(call)) return "a vector of constants, without a batch";
  return fmt::format("the suite has no {} of these shapes", call.overload);
}

std::variant<OpCase, std::string> op_case(const OpSight& op) {
  if (op.caller) {
    auto served = op_case(*op.caller);
    if (std::holds_alternative<OpCase>(served)) return served;
  }
  return op_case(op.call);
}

}  // namespace bic
