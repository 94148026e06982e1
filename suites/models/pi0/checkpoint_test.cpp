#include "suites/models/pi0/checkpoint.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "results_schema/error.h"
#include "suites/models/pi0/golden.h"
#include "suites/models/safetensors/test_files.h"

namespace bic::pi0 {
namespace {

using safetensors::TemporaryFolder;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const char* file_dtype(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "F32";
    case at::kBFloat16:
      return "BF16";
    case at::kHalf:
      return "F16";
    default:
      return "I64";
  }
}

/// A safetensors file of those tensors.
std::string file_of(const std::map<std::string, at::Tensor>& tensors) {
  nlohmann::json header{{"__metadata__", {{"format", "pt"}}}};
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor t = tensor.contiguous();
    const std::size_t begin = data.size();
    data.append(static_cast<const char*>(t.const_data_ptr()), t.nbytes());
    header[name] = {{"dtype", file_dtype(t.scalar_type())},
                    {"shape", t.sizes().vec()},
                    {"data_offsets", {begin, data.size()}}};
  }
  return safetensors::file_of(header.dump(), data);
}

std::map<std::string, at::Tensor> tiny_tensors(const char* preset_name,
                                               at::ScalarType dtype = at::kFloat) {
  const Weights weights = synthetic_weights(preset(preset_name), dtype);
  return {weights.begin(), weights.end()};
}

Loaded loaded(const char* preset_name,
              at::ScalarType dtype,
              const std::map<std::string, at::Tensor>& tensors) {
  const TemporaryFolder folder;
  return load_weights(preset(preset_name), dtype, folder.write("w.safetensors", file_of(tensors)));
}

void expect_same(const Weights& got, const Weights& want) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, tensor] : want) {
    ASSERT_TRUE(got.contains(name)) << name;
    EXPECT_EQ(got.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(at::equal(got.at(name), tensor)) << name;
  }
}

TEST(Pi0Checkpoint, AFileGivesTheActionOfItsWeights) {
  const Loaded from_file = loaded("tiny", at::kFloat, tiny_tensors("tiny"));
  EXPECT_THAT(from_file.notes, testing::IsEmpty());
  const Config config = preset("tiny");
  const Model model(config, precision(config, at::kFloat), from_file.weights);
  EXPECT_THAT(off_golden_action(run_open_pi_zero(model).action), testing::IsEmpty());
}

TEST(Pi0Checkpoint, ConversionsAreStated) {
  auto tensors = tiny_tensors("tiny");
  tensors["action_decoder.bias"] = tensors["action_decoder.bias"].to(at::kBFloat16);
  const Loaded narrow = loaded("tiny", at::kBFloat16, tensors);
  expect_same(narrow.weights, synthetic_weights(preset("tiny"), at::kBFloat16));
  EXPECT_THAT(
      narrow.notes,
      UnorderedElementsAre(fmt::format("{} tensors: F32 rounded to BFloat16", tensors.size() - 1)));
  EXPECT_THAT(loaded("tiny", at::kFloat, tensors).notes,
              UnorderedElementsAre("1 tensors: BF16 widened to Float"));
}

TEST(Pi0Checkpoint, MixedPrecisionKeepsItsFp32Parts) {
  expect_same(loaded("tiny-openpi", at::kBFloat16, tiny_tensors("tiny-openpi")).weights,
              synthetic_weights(preset("tiny-openpi"), at::kBFloat16));
}

TEST(Pi0Checkpoint, MisalignedTensorsAreRead) {
  auto tensors = tiny_tensors("tiny");
  const TemporaryFolder folder;
  std::string bytes = file_of(tensors);
  // One more blank in the header moves all data by a byte.
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.insert(8 + length, " ");
  ++length;
  std::memcpy(bytes.data(), &length, sizeof length);
  expect_same(
      load_weights(preset("tiny"), at::kFloat, folder.write("w.safetensors", bytes)).weights,
      synthetic_weights(preset("tiny"), at::kFloat));
}

TEST(Pi0Checkpoint, NamesOfCompiledAndWrappedModelsAreUnderstood) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, tensor] : tiny_tensors("tiny")) {
    tensors["model._orig_mod." + name] = tensor;
  }
  expect_same(loaded("tiny", at::kFloat, tensors).weights,
              synthetic_weights(preset("tiny"), at::kFloat));
}

TEST(Pi0Checkpoint, OpenPiFilesMayTieTheEmbedding) {
  const Config config = preset("tiny-openpi");
  const std::string embedding = config.names.embedding + ".weight";
  const std::string heads = "model.paligemma_with_expert.";
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, tensor] : tiny_tensors("tiny-openpi")) {
    const std::string shortened = name.starts_with("action_time_") ? name.substr(7) : name;
    tensors["model." + shortened] = tensor;
  }
  const auto node = tensors.extract("model." + embedding);
  tensors[heads + "paligemma.lm_head.weight"] = node.mapped();
  tensors[heads + "gemma_expert.lm_head.weight"] = node.mapped();
  const Loaded tied = loaded("tiny-openpi", at::kFloat, tensors);
  expect_same(tied.weights, synthetic_weights(config, at::kFloat));
  EXPECT_THAT(tied.notes,
              UnorderedElementsAre("not read: \"" + heads + "gemma_expert.lm_head.weight\""));
  tensors["model." + embedding] = node.mapped();
  EXPECT_EQ(loaded("tiny-openpi", at::kFloat, tensors).notes.size(), 2u);
}

TEST(Pi0Checkpoint, AWrongSetOfTensorsIsRefusedInOneLine) {
  using Tensors = std::map<std::string, at::Tensor>;
  const auto refusal = [](const std::function<void(Tensors&)>& change) -> std::string {
    Tensors tensors = tiny_tensors("tiny");
    change(tensors);
    try {
      loaded("tiny", at::kFloat, tensors);
    } catch (const UsageError& e) {
      EXPECT_THAT(e.what(), testing::Not(HasSubstr("\n")));
      return e.what();
    }
    return "accepted";
  };
  const std::string bias = "action_decoder.bias";
  EXPECT_THAT(refusal([&](Tensors& t) { t.erase(bias); }),
              HasSubstr("of tiny are missing, the first 'action_decoder.bias'"));
  EXPECT_THAT(refusal([&](Tensors& t) { t["more"] = t[bias]; }),
              HasSubstr("1 tensors that tiny has not, the first \"more\""));
  EXPECT_THAT(refusal([&](Tensors& t) { t[bias] = t["proprio_encoder.bias"]; }),
              HasSubstr("tensor \"action_decoder.bias\" is [32], tiny wants [7]"));
  EXPECT_THAT(refusal([&](Tensors& t) { t[bias] = t[bias].to(at::kLong); }),
              HasSubstr("is of I64; weights are"));
  EXPECT_THAT(refusal([&](Tensors& t) { t["model." + bias] = t[bias]; }),
              HasSubstr("two tensors are 'action_decoder.bias'"));
}

}  // namespace
}  // namespace bic::pi0
