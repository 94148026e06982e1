#include "harness/plan/op_spec_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "results_schema/error.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

json example() {
  return json::parse(R"json({
    "op": "row_dot",
    "formula": "y = sum_k x[k] w[k] * scale",
    "dims": {"k": {"from": 16, "to": 512}, "d": {"from": 1, "to": 8}},
    "inputs": [{"name": "x", "axes": ["B", "2*d", "k"]}, {"name": "w", "axes": ["k"]},
               {"name": "i", "axes": ["B"], "elements": "indices", "below": "k"}],
    "output": {"name": "y", "axes": ["B", "2*d"], "dtype": "fp32"},
    "attributes": {"scale": "0x1p-3", "mode": 2, "sharp": true},
    "reduced": ["k"],
    "contraction": true,
    "reference": "(y) = aten::matmul.default(x, w)",
    "bound": {"roundings": "k+2", "functions": 1, "output_roundings": 2,
              "magnitude": "(y) = aten::matmul.default(x, w)"}
  })json");
}

OpSpecFile parsed(const json& spec) { return parse_op_spec("my.json", spec.dump()); }

/// The one line with which the file is refused.
std::string refusal(const json& spec) {
  try {
    parsed(spec);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "accepted";
}

/// The same of the example with `value` at a JSON pointer.
std::string refusal_with(const std::string& pointer, const json& value) {
  json spec = example();
  spec[json::json_pointer(pointer)] = value;
  return refusal(spec);
}

std::string refusal_without(const std::string& key) {
  json spec = example();
  spec.erase(key);
  return refusal(spec);
}

TEST(OpSpecFile, RefusesNamesThatNothingHas) {
  EXPECT_THAT(refusal_with("/reference", "(y) = aten::matmul.default(x, wx)"),
              HasSubstr("reference: nothing is called 'wx'"));
  EXPECT_THAT(refusal_with("/call", "(y) = my::op(x, [k, w, nope])"),
              HasSubstr("call: nothing is called 'nope'"));
  EXPECT_EQ(refusal_with("/reference",
                         "(a) = aten::mul.Tensor(x, w); (y) = aten::sum.dim_IntList(a, [-1])"),
            "accepted");
}

TEST(OpSpecFile, RefusesABoundThatGrowsFasterThanASum) {
  EXPECT_THAT(refusal_with("/bound/roundings", "k*k"), HasSubstr("grows faster than any sum"));
  EXPECT_EQ(refusal_with("/bound/roundings", "3*k+d+16"), "accepted");
}

TEST(OpSpecFile, IsReadWhole) {
  const json spec = example();
  const OpSpecFile file = parsed(spec);
  EXPECT_EQ(file.op.name, "row_dot");
  EXPECT_EQ(file.op.declared_sha256, sha256_hex(spec.dump()));
  EXPECT_EQ(file.op.control, ControlKind::kOrder);
  EXPECT_TRUE(file.op.contraction);
  ASSERT_EQ(file.op.variants.size(), 1u);
  const Variant& v = file.op.variants[0];
  ASSERT_EQ(v.inputs.size(), 3u);
  EXPECT_THAT(v.inputs[0].axes, ElementsAre("B", "2*d", "k"));
  EXPECT_EQ(v.inputs[2].elements, Elements::kIndices);
  EXPECT_EQ(v.inputs[2].below, "k");
  EXPECT_EQ(v.output_dtype, DType::kFloat32);
  EXPECT_THAT(v.reduced, ElementsAre("k"));
  EXPECT_EQ(v.attributes, (Attributes{{"mode", "2"}, {"scale", "0x1p-3"}, {"sharp", "True"}}));
  EXPECT_EQ(file.bound.roundings, "k+2");
  EXPECT_EQ(file.bound.functions, 1);
  EXPECT_EQ(file.bound.output_roundings, 2);
  EXPECT_EQ(file.bound.magnitude, "(y) = aten::matmul.default(x, w)");
}

TEST(OpSpecFile, HasDefaultsForWhatItLeavesOut) {
  json spec = example();
  spec.erase("bound");
  spec.erase("contraction");
  const OpSpecFile file = parsed(spec);
  EXPECT_EQ(file.op.variants[0].call,
            "(y) = user::row_dot(x, w, i, mode=mode, scale=scale, sharp=sharp)");
  EXPECT_EQ(file.op.dtypes.size(), kAllDTypes.size());
  EXPECT_EQ(file.bound.roundings, "k+16");
  EXPECT_EQ(file.op.laws[0], Law::kEdge);
  EXPECT_EQ(parsed(example()).op.laws[0], Law::kCancel);
  spec.erase("reduced");
  EXPECT_EQ(parsed(spec).op.control, ControlKind::kNone);
}

TEST(OpSpecFile, ShippedExampleIsOne) {
  const OpSpecFile file = read_op_spec(BIC_OP_SPEC_EXAMPLE);
  EXPECT_EQ(file.op.name, "fused_rms_norm");
}

TEST(OpSpecFile, NeedsWhatAnOpIsMadeOf) {
  for (const char* key : {"op", "formula", "dims", "inputs", "output", "reference"}) {
    EXPECT_EQ(refusal_without(key), "--op-spec: my.json: '" + std::string(key) + "' is missing");
  }
}

struct Mistake {
  const char* pointer;
  json value;
  const char* line;
};

TEST(OpSpecFile, SaysWhatIsWrongAndWhere) {
  const Mistake mistakes[] = {
      {"/op", "mm", "op: there is an op 'mm' already"},
      {"/op", "My Op", "op: an op's name is of small letters"},
      {"/op", 3, "op: 3 is no text"},
      {"/formula", "", "formula: it is empty"},
      {"/refrence", "x", "unknown key 'refrence'; did you mean 'reference'?"},
      {"/dtypes", json::array({"fp8"}), "dtypes[0]: unknown dtype 'fp8' (known: fp32"},
      {"/dtypes", json::array(), "dtypes: it is empty"},
      {"/dims/k", 16, "dims.k: it is no object"},
      {"/dims/k/from", 0, "dims.k.from: 0 is not a whole number from 1 to"},
      {"/dims/k/from", 513, "dims.k: from 513 to 512 is empty"},
      {"/dims/k/step", 2, "dims.k: unknown key 'step'"},
      {"/dims/k2", json{{"from", 1}, {"to", 2}}, "dims.k2: a dim's name"},
      {"/dims/m", json{{"from", 1}, {"to", 2}}, "dims: no axis uses 'm'"},
      {"/inputs", json::array(), "inputs: it is empty"},
      {"/inputs/0/name", "2x", "inputs[0].name: a tensor's name"},
      {"/inputs/1/name", "x", "two things are called 'x'"},
      {"/inputs/1/name", "k", "two things are called 'k'"},
      {"/inputs/1/name", "bf16", "'bf16' is a dtype's name"},
      {"/inputs/0/axes/1", "q", "inputs[0].axes[1]: axis 'q': 'q' is neither a dim"},
      {"/inputs/0/axes/1", "d-4", "inputs[0].axes[1]: axis 'd-4': it comes to -3"},
      {"/inputs/0/axes/1", "B", "inputs[0].axes: B stands twice"},
      {"/inputs/2/elements", "ints", "inputs[2].elements: 'ints' is not values, indices or bools"},
      {"/output/axes", json::array({"2*d"}), "an input has an axis B, the output has none"},
      {"/output/dtype", "fp8", "output.dtype: it is none of fp32"},
      {"/attributes/scale", "a b", "attributes.scale: 'a b' is not of letters"},
      {"/reduced", json::array({"2*k"}), "reduced[0]: '2*k' is no axis of an input"},
      {"/reduced", json::array({"B"}), "reduced[0]: 'B' is no axis"},
      {"/contraction", 1, "contraction: it is neither true nor false"},
      {"/call", "mylib.f(x)", "call: call text 'mylib.f(x)': expected"},
      {"/forms", json{{"chunk", "(y) = a::b(x)"}}, "forms: unknown key 'chunk'"},
      {"/reference", "(y) = aten::mm(", "reference: call text"},
      {"/bound/roundings", "h", "bound.roundings: axis 'h'"},
      {"/bound/functions", -1, "bound.functions: -1 is not a whole number"},
      {"/laws", json::array({"gauss"}), "laws[0]: unknown law 'gauss'"},
      {"/laws", json::array({"normal", "sweep"}), "laws: 'sweep' tries all inputs"},
  };
  for (const auto& [pointer, value, line] : mistakes) {
    const std::string got = refusal_with(pointer, value);
    EXPECT_THAT(got, HasSubstr(line)) << pointer;
    EXPECT_THAT(got, testing::StartsWith("--op-spec: my.json: "));
    EXPECT_EQ(got.find('\n'), std::string::npos) << got;
  }
}

TEST(OpSpecFile, NamesFilesThatAreNone) {
  EXPECT_THROW(read_op_spec("/no/such.json"), UsageError);
  EXPECT_THROW(read_op_spec("/"), UsageError);
  EXPECT_THROW(parse_op_spec("my.json", "{"), UsageError);
  EXPECT_THROW(parse_op_spec("my.json", "[]"), UsageError);
  EXPECT_THROW(parse_op_spec("my.json", R"({"op": "a", "op": "b"})"), UsageError);
}

}  // namespace
}  // namespace bic
