#include "harness/plan/op_spec_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "harness/files/json_node.h"
#include "harness/files/op_spec_calls.h"
#include "harness/files/tensor_reader.h"
#include "harness/plan/case_check.h"
#include "results_schema/axis.h"
#include "results_schema/case_grammar.h"
#include "results_schema/error.h"
#include "results_schema/json.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

/// Values that `parse` knows, in the file's order.
template <class Parse>
auto named_values(const JsonNode& at, const char* what, const char* known, Parse parse) {
  std::vector<typename decltype(parse(std::string_view()))::value_type> all;
  for (const JsonNode& item : at.items()) {
    const auto value = parse(item.text());
    if (!value) item.refuse(fmt::format("unknown {} '{}' (known: {})", what, item.text(), known));
    all.push_back(*value);
  }
  if (all.empty()) at.refuse(fmt::format("it is empty; name at least one {}", what));
  return all;
}

std::vector<DimRange> dims_of(const JsonNode& at) {
  std::vector<DimRange> dims;
  for (const auto& [name, range] : at.members()) {
    if (!grammar::is_dim(name)) range.refuse("a dim's name is of small letters and _");
    range.allow({"from", "to"});
    dims.push_back(
        {name, range.at("from").whole(1, kMostExtent), range.at("to").whole(1, kMostExtent)});
    if (dims.back().lo > dims.back().hi) {
      range.refuse(fmt::format("from {} to {} is empty", dims.back().lo, dims.back().hi));
    }
  }
  return dims;
}

/// Reals are texts in the file, as they are in case strings, so that no digit is lost.
Attributes attributes_of(const JsonNode& at) {
  Attributes attributes;
  for (const auto& [name, value] : at.members()) {
    if (!grammar::is_name(name)) value.refuse("an attribute's name is of small letters, digits, _");
    const std::string text = value.literal();
    if (!grammar::is_value(text)) {
      value.refuse(fmt::format("'{}' is not of letters, digits and _.+-", text));
    }
    attributes[name] = text;
  }
  return attributes;
}

/// Names that a call text may hold mean one thing each.
void check_names(const JsonNode& root, const OpSpec& op) {
  const Variant& v = op.variants[0];
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const char* what) {
    if (!seen.insert(name).second) root.refuse(fmt::format("two things are called '{}'", name));
    if (parse_dtype(name)) root.refuse(fmt::format("{} '{}' is a dtype's name", what, name));
  };
  for (const TensorSpec& t : v.inputs) add(t.name, "tensor");
  add(v.output.name, "tensor");
  for (const auto& [name, value] : v.attributes) add(name, "attribute");
  for (const DimRange& d : op.dims) {
    add(d.name, "dim");
    if (!mentions(v, d.name)) root.at("dims").refuse(fmt::format("no axis uses '{}'", d.name));
  }
}

void check_batch(const JsonNode& root, const Variant& v) {
  const bool any = std::ranges::any_of(v.inputs, [](const auto& t) { return batch_axis(t) >= 0; });
  if (any == (batch_axis(v.output) >= 0)) return;
  root.refuse(any ? "an input has an axis B, the output has none"
                  : "the output has an axis B, no input has one");
}

/// Dims summed over; each is an axis of an input, for the controls turn it round there.
void read_reduced(const JsonNode& root, OpSpec& op) {
  Variant& v = op.variants[0];
  if (!root.has("reduced")) {
    op.control = ControlKind::kNone;
    return;
  }
  for (const JsonNode& item : root.at("reduced").items()) {
    v.reduced.push_back(item.text());
    const auto along = [&](const TensorSpec& t) {
      return std::ranges::find(t.axes, item.text()) != t.axes.end() && !is_batch_axis(item.text());
    };
    if (std::ranges::none_of(v.inputs, along)) {
      item.refuse(
          fmt::format("'{}' is no axis of an input; write it as it stands there", item.text()));
    }
  }
  if (v.reduced.empty()) root.at("reduced").refuse("it is empty; leave it out");
  op.contraction = root.flag_or("contraction", false);
  if (op.contraction && !std::ranges::all_of(v.reduced, grammar::is_dim)) {
    root.at("contraction").refuse("zeros can be appended to a plain dim only; reduce one");
  }
}

std::vector<Law> laws_of(const JsonNode& at) {
  std::vector<Law> laws = named_values(at, "law", "bi-conform list laws", parse_law);
  if (std::ranges::find(laws, Law::kSweep) != laws.end()) {
    at.refuse("'sweep' tries all inputs of the suite's pointwise ops; leave it out");
  }
  return laws;
}

void read_laws(const JsonNode& root, OpSpec& op) {
  if (op.control == ControlKind::kNone) {
    op.laws = {Law::kNormal, Law::kWide, Law::kOutlier};
  } else if (op.contraction) {
    op.laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal};
  } else {
    op.laws = {Law::kEdge, Law::kOutlier, Law::kNormal};
  }
  op.accuracy_laws = {Law::kNormal, Law::kUniform, Law::kRamp, Law::kOutlier};
  if (root.has("laws")) op.laws = laws_of(root.at("laws"));
  if (root.has("accuracy_laws")) op.accuracy_laws = laws_of(root.at("accuracy_laws"));
}

void read_calls(const JsonNode& root, OpSpec& op) {
  Variant& v = op.variants[0];
  v.call = root.has("call") ? call_text(root.at("call"), op) : default_call(op);
  if (!root.has("forms")) return;
  const JsonNode forms = root.at("forms");
  forms.allow({"out", "inplace"});
  for (const auto& [form, text] : forms.members()) v.forms[form] = call_text(text, op);
}

/// Without a claim of the file's: a rounding for each term of the sum and sixteen more.
ErrorClaim claim_of(const JsonNode& root, const TensorReader& tensors, const OpSpec& op) {
  const std::vector<std::string>& reduced = op.variants[0].reduced;
  ErrorClaim claim;
  claim.roundings = reduced.empty() ? "16" : reduced[0] + "+16";
  if (!root.has("bound")) return claim;
  const JsonNode at = root.at("bound");
  at.allow({"roundings", "functions", "output_roundings", "magnitude"});
  if (at.has("roundings")) {
    claim.roundings = tensors.axis(at.at("roundings"));
    if (std::regex_search(claim.roundings, std::regex("[a-z_]\\*[a-z_]"))) {
      at.at("roundings").refuse("a product of dims grows faster than any sum; write 3*k+16");
    }
  }
  constexpr int kMost = 1000;
  if (at.has("functions")) claim.functions = static_cast<int>(at.at("functions").whole(0, kMost));
  if (at.has("output_roundings")) {
    claim.output_roundings = static_cast<int>(at.at("output_roundings").whole(0, kMost));
  }
  if (at.has("magnitude")) claim.magnitude = call_text(at.at("magnitude"), op);
  return claim;
}

std::string claim_text(const ErrorClaim& c) {
  std::string text = "gamma_(" + c.roundings + ")";
  if (c.functions > 0) text += fmt::format(", {} functions", c.functions);
  if (c.output_roundings > 0) text += fmt::format(", {} output roundings", c.output_roundings);
  return text + " times " + (c.magnitude.empty() ? "the output's size" : c.magnitude);
}

void read_head(const JsonNode& root, OpSpec& op) {
  op.name = root.at("op").text();
  if (!grammar::is_name(op.name)) {
    root.at("op").refuse("an op's name is of small letters, digits and _");
  }
  if (find_op(op.name) != nullptr) {
    root.at("op").refuse(fmt::format("there is an op '{}' already; choose another name", op.name));
  }
  op.formula = root.at("formula").text();
  op.why = root.text_or("why", "declared by the user");
  if (root.has("dtypes")) {
    op.dtypes = named_values(root.at("dtypes"), "dtype", "fp32, bf16, fp16, fp64", parse_dtype);
  }
  op.dims = dims_of(root.at("dims"));
}

void read_variant(const JsonNode& root, const TensorReader& tensors, Variant& v) {
  for (const JsonNode& item : root.at("inputs").items()) v.inputs.push_back(tensors.input(item));
  if (v.inputs.empty()) root.at("inputs").refuse("it is empty; an op has at least one input");
  const JsonNode output = root.at("output");
  v.output = tensors.output(output);
  if (output.has("dtype")) {
    v.output_dtype = parse_dtype(output.at("dtype").text());
    if (!v.output_dtype) output.at("dtype").refuse("it is none of fp32, bf16, fp16, fp64");
  }
  if (root.has("attributes")) v.attributes = attributes_of(root.at("attributes"));
}

}  // namespace

OpSpecFile parse_op_spec(const std::string& file, std::string_view text) {
  const auto json = read_json(text, "--op-spec: " + file);
  const JsonNode root("--op-spec: " + file, "", json);
  root.allow({"op",
              "formula",
              "why",
              "dtypes",
              "dims",
              "inputs",
              "output",
              "attributes",
              "reduced",
              "contraction",
              "call",
              "forms",
              "reference",
              "bound",
              "laws",
              "accuracy_laws"});
  OpSpecFile spec;
  OpSpec& op = spec.op;
  read_head(root, op);
  const TensorReader tensors(op.dims);
  read_variant(root, tensors, op.variants.emplace_back());
  check_names(root, op);
  check_batch(root, op.variants[0]);
  read_reduced(root, op);
  read_calls(root, op);
  read_laws(root, op);
  spec.reference = call_text(root.at("reference"), op);
  spec.bound = claim_of(root, tensors, op);
  op.bound = claim_text(spec.bound);
  op.declared_sha256 = sha256_hex(text);
  return spec;
}

OpSpecFile read_op_spec(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || !std::filesystem::is_regular_file(path, ignored)) {
    throw UsageError(fmt::format("--op-spec: '{}': there is no such file", path.string()));
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_op_spec(path.string(), text);
}

}  // namespace bic
