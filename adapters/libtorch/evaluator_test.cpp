#include "adapters/libtorch/evaluator.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "results_schema/error.h"

namespace bic::libtorch {
namespace {

using testing::HasSubstr;

/// What every golden text may use.
const Dims kDims{{"h", 8}, {"m", 3}};
const Attributes kAttributes{{"eps", "0x1p-10"},
                             {"beta", "0x1p-1"},
                             {"alpha", "2"},
                             {"approximate", "tanh"},
                             {"keepdim", "True"},
                             {"shape", "[2, 3, 8]"}};

NamedTensors operands() {
  at::manual_seed(7);
  return {{"x", at::randn({6, 8})},
          {"w", at::randn({8, 5})},
          {"v", at::randn({5, 8})},
          {"b", at::randn({5})},
          {"g", at::randn({8})},
          {"r", at::randn({2, 3, 8})},
          {"y", at::full({6, 5}, 7.0f)},
          {"z", at::randn({6, 5})}};
}

std::vector<std::string> names_of(const NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

using Direct = std::function<at::Tensor(NamedTensors&)>;

/// The same calls in C++, by the names of the golden file.
const std::map<std::string, Direct>& direct_calls() {
  static const std::map<std::string, Direct> calls{
      {"mm", [](NamedTensors& t) { return at::mm(t["x"], t["w"]); }},
      {"mm_out", [](NamedTensors& t) { return at::mm_out(t["y"], t["x"], t["w"]); }},
      {"linear", [](NamedTensors& t) { return at::linear(t["x"], t["v"], t["b"]); }},
      {"linear_none", [](NamedTensors& t) { return at::linear(t["r"], t["v"]); }},
      {"addmm", [](NamedTensors& t) { return at::addmm(t["z"], t["x"], t["w"], 0.5, 2); }},
      {"sum_list",
       [](NamedTensors& t) {
         return at::sum(t["r"], {1, -1}, true);
       }},
      {"sum_single", [](NamedTensors& t) { return at::sum(t["r"], 1); }},
      {"sum_dtype", [](NamedTensors& t) { return at::sum(t["x"], {1}, false, at::kDouble); }},
      {"softmax", [](NamedTensors& t) { return at::softmax(t["x"], -1); }},
      {"layer_norm",
       [](NamedTensors& t) { return at::layer_norm(t["r"], {8}, t["g"], {}, 0x1p-10); }},
      {"native_norm",
       [](NamedTensors& t) {
         return std::get<2>(at::native_layer_norm(t["r"], {3, 8}, {}, {}, 1e-5));
       }},
      {"gelu", [](NamedTensors& t) { return at::gelu(t["x"], "tanh"); }},
      {"gelu_inplace", [](NamedTensors& t) { return at::gelu_(t["x"], "none"); }},
      {"cat",
       [](NamedTensors& t) {
         return at::cat({t["x"], t["x"]}, 1);
       }},
      {"clamp", [](NamedTensors& t) { return at::clamp(t["x"], -1, std::nullopt); }},
      {"reshape",
       [](NamedTensors& t) {
         return at::reshape(t["x"], {2, 3, 8});
       }},
      {"index", [](NamedTensors& t) { return t["x"].index({at::argsort(t["b"])}); }},
      {"two_steps", [](NamedTensors& t) { return at::mm(at::relu(t["x"]), t["w"]); }},
  };
  return calls;
}

std::map<std::string, std::string> golden_texts() {
  std::map<std::string, std::string> texts;
  std::ifstream file(BIC_GOLDEN_CALLS);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t tab = line.find('\t');
    texts[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return texts;
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor c = a.contiguous(), d = b.contiguous();
  return c.scalar_type() == d.scalar_type() && c.sizes() == d.sizes() &&
         std::memcmp(c.const_data_ptr(), d.const_data_ptr(), c.nbytes()) == 0;
}

TEST(Evaluator, GoldenTextsGiveTheBytesOfTheDirectCalls) {
  const auto texts = golden_texts();
  ASSERT_EQ(texts.size(), direct_calls().size());
  for (const auto& [name, text] : texts) {
    NamedTensors given = operands(), same = operands();
    const Evaluator evaluator(text, names_of(given), kDims, kAttributes);
    const at::Tensor y = evaluator.run(given, "y");
    EXPECT_TRUE(same_bytes(y, direct_calls().at(name)(same))) << name << ": " << text;
  }
}

TEST(Evaluator, ComparisonOfTheGoldenTestSeesOneFlippedBit) {
  const at::Tensor x = at::ones({4});
  at::Tensor y = x.clone();
  static_cast<unsigned char*>(y.data_ptr())[5] ^= 1;
  EXPECT_FALSE(same_bytes(x, y));
}

TEST(Evaluator, OutputGivenIsTheOneReturnedAndKnownAsWritten) {
  NamedTensors given = operands();
  const Evaluator evaluator("(y) = aten::mm.out(x, w, out=y)", names_of(given), kDims, kAttributes);
  EXPECT_TRUE(evaluator.writes("y"));
  EXPECT_FALSE(evaluator.writes("x"));
  EXPECT_EQ(evaluator.run(given, "y").const_data_ptr(), given["y"].const_data_ptr());
}

TEST(Evaluator, InPlaceOperandIsKnownAsWritten) {
  const Evaluator evaluator("y = aten::gelu_(x)", {"x"}, kDims, kAttributes);
  EXPECT_TRUE(evaluator.writes("x"));
}

class Refused : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Refused, TextThatFitsNoSchemaSaysWhy) {
  try {
    Evaluator(GetParam().first, {"x", "w"}, kDims, kAttributes);
    FAIL() << "accepted: " << GetParam().first;
  } catch (const HarnessError& e) {
    EXPECT_THAT(e.what(), HasSubstr(GetParam().second));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts,
    Refused,
    testing::Values(std::pair{"y = aten::no_such_op(x)", "no such operator"},
                    std::pair{"y = aten::mm(x)", "'mat2' (Tensor): missing"},
                    std::pair{"y = aten::mm(x, w, x)", "at most 2 positional"},
                    std::pair{"y = aten::mm(x, other=w)", "no argument 'other'"},
                    std::pair{"y = aten::mm(x, w, self=x)", "given twice"},
                    std::pair{"y = aten::mm(x, q)", "no tensor, dim or attribute 'q'"},
                    std::pair{"y = aten::softmax.int(x, eps)", "does not fit"},
                    std::pair{"y = aten::gelu(x, approximate=1)", "does not fit"},
                    std::pair{"y = aten::cat([x, h])", "wants tensors"}));

}  // namespace
}  // namespace bic::libtorch
