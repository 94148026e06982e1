#include "suites/ops/op_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "results_schema/axis.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using testing::ElementsAre;

/// Every op with every variant.
struct Declared {
  const OpSpec* op;
  const Variant* variant;
};

std::vector<Declared> declared() {
  std::vector<Declared> all;
  for (const OpSpec& op : registry()) {
    for (const Variant& v : op.variants) all.push_back({&op, &v});
  }
  return all;
}

void PrintTo(const Declared& d, std::ostream* out) { *out << d.op->name << '-' << d.variant->name; }

std::vector<TensorSpec> tensors(const Variant& v) {
  std::vector<TensorSpec> all = v.inputs;
  all.push_back(v.output);
  return all;
}

std::vector<std::string> texts(const Variant& v) {
  std::vector<std::string> all{v.call};
  for (const auto& [form, text] : v.forms) all.push_back(text);
  return all;
}

std::set<std::string> dim_names(const OpSpec& op) {
  std::set<std::string> names;
  for (const DimRange& d : op.dims) names.insert(d.name);
  return names;
}

std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> all;
  for (auto m = std::sregex_iterator(text.begin(), text.end(), pattern);
       m != std::sregex_iterator();
       ++m) {
    all.push_back(m->str());
  }
  return all;
}

class Declaration : public testing::TestWithParam<Declared> {};

TEST_P(Declaration, UsesDeclaredDimsOnly) {
  const auto& [op, variant] = GetParam();
  const std::set<std::string> dims = dim_names(*op);
  Dims extents;
  for (const std::string& dim : dims) extents[dim] = 8;
  for (const TensorSpec& t : tensors(*variant)) {
    for (const std::string& axis : t.axes) {
      EXPECT_NO_THROW(axis_extent(axis, extents, 1)) << t.name << " axis " << axis;
    }
  }
  for (const std::string& dim : variant->reduced) EXPECT_TRUE(dims.contains(dim)) << dim;
}

TEST_P(Declaration, OutputGrowsWithTheBatchIfAnInputDoes) {
  const Variant& variant = *GetParam().variant;
  const auto grows = [](const TensorSpec& t) { return batch_axis(t) >= 0; };
  EXPECT_EQ(grows(variant.output), std::ranges::any_of(variant.inputs, grows));
}

TEST_P(Declaration, CallsNameDeclaredThingsOnly) {
  const auto& [op, variant] = GetParam();
  std::set<std::string> known{"True", "False", "None", variant->output.name, "out"};
  for (DType dtype : kAllDTypes) known.insert(std::string(name(dtype)));
  for (const TensorSpec& t : variant->inputs) known.insert(t.name);
  for (const auto& [attribute, value] : variant->attributes) known.insert(attribute);
  known.merge(dim_names(*op));
  const std::regex step("\\s*\\(([\\w, ]+)\\) = aten::(\\w+)\\.(\\w+)\\(([^;]*)\\)"),
      literal("\"[^\"]*\""), keyword("\\w+="), word("[A-Za-z_]\\w*");
  for (const std::string& text : texts(*variant)) {
    std::set<std::string> names = known;
    std::string targets;
    std::istringstream steps(text);
    for (std::string one; std::getline(steps, one, ';');) {
      std::smatch parts;
      ASSERT_TRUE(std::regex_match(one, parts, step)) << one;
      std::string arguments = std::regex_replace(parts[4].str(), literal, "");
      arguments = std::regex_replace(arguments, keyword, "");
      for (const std::string& w : matches(arguments, word)) {
        EXPECT_TRUE(names.contains(w)) << w << " in " << text;
      }
      targets = parts[1];
      for (const std::string& target : matches(targets, word)) names.insert(target);
    }
    EXPECT_THAT(matches(targets, word), testing::Contains(variant->output.name)) << text;
  }
}

TEST_P(Declaration, CallsUseEveryInput) {
  const Variant& variant = *GetParam().variant;
  for (const std::string& text : texts(variant)) {
    for (const TensorSpec& t : variant.inputs) {
      EXPECT_TRUE(std::regex_search(text, std::regex("[\\[(, ]" + t.name + "[\\],)]"))) << t.name;
    }
  }
}

TEST_P(Declaration, ReducedAxesAreThoseThatTheOutputSumsAway) {
  const Variant& variant = *GetParam().variant;
  if (variant.reduced.empty()) return;
  EXPECT_FALSE(reduced_axes(variant.inputs[0], variant).empty());
}

TEST_P(Declaration, MasksAlongASummedAxisOnly) {
  const Variant& v = *GetParam().variant;
  const bool masks = std::ranges::any_of(v.inputs, &TensorSpec::masks);
  EXPECT_TRUE(!masks || !v.masked.empty()) << "what masks, masks something";
  if (v.masked.empty()) return;
  EXPECT_THAT(v.reduced, testing::Contains(v.masked));
  for (const TensorSpec& t : v.inputs) {
    if (!t.masks) continue;
    EXPECT_THAT(t.axes, testing::Contains(v.masked)) << t.name;
  }
}

TEST_P(Declaration, KnownFormsOnly) {
  for (const auto& [form, text] : GetParam().variant->forms) {
    EXPECT_TRUE(parse_form(form) && form != "functional") << form;
    EXPECT_EQ(form == "out", text.ends_with(", out=y)")) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         Declaration,
                         testing::ValuesIn(declared()),
                         [](const auto& info) {
                           const std::string& variant = info.param.variant->name;
                           return info.param.op->name + (variant.empty() ? "" : "_" + variant);
                         });

TEST(Registry, SaysWhatEachOpIsAndWhy) {
  for (const OpSpec& op : registry()) {
    EXPECT_FALSE(op.formula.empty() || op.why.empty() || op.bound.empty()) << op.name;
    EXPECT_FALSE(op.laws.empty() || op.accuracy_laws.empty()) << op.name;
    EXPECT_NE(op.reference, nullptr) << op.name;
    EXPECT_EQ(op.formula.find('\n'), std::string::npos) << op.name;
    ASSERT_FALSE(op.variants.empty()) << op.name;
    EXPECT_EQ(op.variants[0].name, "") << op.name;
    for (const DimRange& d : op.dims) EXPECT_TRUE(1 <= d.lo && d.lo <= d.hi) << op.name << d.name;
  }
}

TEST(Registry, NamesOpsAndVariantsOnce) {
  std::set<std::string> ops;
  for (const OpSpec& op : registry()) {
    EXPECT_TRUE(ops.insert(op.name).second) << op.name;
    std::set<std::string> variants;
    for (const Variant& v : op.variants) EXPECT_TRUE(variants.insert(v.name).second) << v.name;
  }
  EXPECT_TRUE(ops.contains("mm"));
}

TEST(Registry, UsesEveryDeclaredDim) {
  for (const OpSpec& op : registry()) {
    for (const std::string& dim : dim_names(op)) {
      bool used = false;
      for (const Variant& v : op.variants) used = used || mentions(v, dim);
      EXPECT_TRUE(used) << op.name << ' ' << dim;
    }
  }
}

TEST(Registry, FindsOpsByName) {
  ASSERT_NE(find_op("bmm"), nullptr);
  EXPECT_EQ(find_op("bmm")->name, "bmm");
  EXPECT_EQ(find_op("bm"), nullptr);
}

TEST(TensorShape, BlockHoldsOneSample) {
  const Dims dims{{"t", 3}, {"k", 5}};
  EXPECT_THAT(block_shape({"x", {"B", "t", "k"}}, dims), ElementsAre(1, 3, 5));
  EXPECT_THAT(block_shape({"x", {"t*B", "k"}}, dims), ElementsAre(3, 5));
  EXPECT_THAT(block_shape({"x", {"8*B", "k"}}, dims), ElementsAre(8, 5));
  EXPECT_THAT(block_shape({"w", {"k", "2"}}, dims), ElementsAre(5, 2));
}

TEST(TensorShape, UnknownDimIsAnError) {
  for (const char* axis : {"q", "0", "-1", "3k", "q*B", ""}) {
    EXPECT_THROW(block_shape({"x", {axis}}, {{"k", 5}}), HarnessError) << axis;
  }
}

TEST(TensorShape, BatchAxisIsFoundAnywhere) {
  EXPECT_EQ(batch_axis({"x", {"h", "B"}}), 1);
  EXPECT_EQ(batch_axis({"x", {"t*B", "k"}}), 0);
  EXPECT_EQ(batch_axis({"w", {"n", "k"}}), -1);
}

TEST(TensorShape, ReducedAxesFollowTheVariant) {
  Variant v;
  v.reduced = {"s", "h"};
  EXPECT_THAT(reduced_axes({"x", {"B", "s", "h"}}, v), ElementsAre(1, 2));
  EXPECT_THAT(reduced_axes({"b", {"n"}}, v), ElementsAre());
}

}  // namespace
}  // namespace bic
