#include "suites/models/safetensors/checkpoint_files.h"

#include <gmock/gmock.h>

#include "results_schema/error.h"
#include "results_schema/sha256.h"
#include "suites/models/safetensors/test_files.h"

namespace bic::safetensors {
namespace {

using testing::HasSubstr;

std::string one_tensor(const std::string& name, const std::string& four_bytes) {
  return file_of("{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                 four_bytes);
}

std::string bytes_of(const Stored& stored) {
  const auto bytes = stored.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string refusal(const std::filesystem::path& path) {
  try {
    open_checkpoint(path);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(CheckpointFiles, ASingleFileIsMapped) {
  const TemporaryFolder folder;
  const auto tensors = open_checkpoint(folder.write("w.safetensors", one_tensor("a", "1234")));
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(bytes_of(tensors.at("a")), "1234");
}

TEST(CheckpointFiles, ShardsAreFoundThroughTheirIndex) {
  const TemporaryFolder folder;
  folder.write("1.safetensors", one_tensor("a", "aaaa"));
  folder.write("2.safetensors", one_tensor("b", "bbbb"));
  folder.write("model.safetensors.index.json",
               R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  const auto tensors = open_checkpoint(folder.path());
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(bytes_of(tensors.at("b")), "bbbb");
}

TEST(CheckpointFiles, AnIndexAndItsShardsMustAgree) {
  const TemporaryFolder folder;
  folder.write("1.safetensors", one_tensor("a", "aaaa"));
  const auto index = [&](const char* map) {
    return refusal(folder.write("w.index.json", std::string(R"({"weight_map":)") + map + "}"));
  };
  EXPECT_THAT(index(R"({"a":"1.safetensors","b":"1.safetensors"})"),
              HasSubstr("tensor \"b\" is not in \"1.safetensors\""));
  EXPECT_THAT(index(R"({"a":"2.safetensors"})"), HasSubstr("2.safetensors: cannot open it"));
  folder.write("2.safetensors", one_tensor("b", "bbbb"));
  folder.write("1.safetensors", one_tensor("c", "cccc"));
  EXPECT_THAT(index(R"({"b":"2.safetensors","c":"1.safetensors"})"), HasSubstr("accepted"));
  folder.write("2.safetensors",
               file_of(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                       R"("c":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                       "bbbbcccc"));
  EXPECT_THAT(index(R"({"b":"2.safetensors","c":"1.safetensors"})"),
              HasSubstr("holds tensor \"c\", which the index does not put there"));
}

TEST(CheckpointFiles, WhatIsNoCheckpointIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.path()), HasSubstr("neither model.safetensors nor"));
  EXPECT_THAT(refusal(folder.path() / "none.safetensors"), HasSubstr("cannot open it"));
  EXPECT_THAT(refusal(folder.write("w.pt", "x")), HasSubstr("convert it first"));
  EXPECT_THAT(refusal(folder.write("w.safetensors", "")), HasSubstr("0 bytes are too few"));
}

TEST(CheckpointFiles, APathThatNoSystemCallTakesIsRefused) {
  const std::string too_long = std::string(300, 'w') + ".safetensors";
  EXPECT_THAT(refusal(too_long), HasSubstr("cannot open it"));
  EXPECT_THROW(checkpoint_sha256(too_long), UsageError);
}

TEST(CheckpointSha256, IsOfTheFileOrOfTheListOfIndexAndShards) {
  const TemporaryFolder folder;
  const auto single = folder.write("model.safetensors", one_tensor("a", "1234"));
  EXPECT_EQ(checkpoint_sha256(single), sha256_file_hex(single));
  EXPECT_EQ(checkpoint_sha256(folder.path()), sha256_file_hex(single));
  const auto index = folder.write("model.safetensors.index.json",
                                  R"({"weight_map":{"a":"y.safetensors","b":"x.safetensors"}})");
  const auto y = folder.write("y.safetensors", one_tensor("a", "1234"));
  const auto x = folder.write("x.safetensors", one_tensor("b", "5678"));
  const std::string list = sha256_file_hex(index) + "  model.safetensors.index.json\n" +
                           sha256_file_hex(x) + "  x.safetensors\n" + sha256_file_hex(y) +
                           "  y.safetensors\n";
  EXPECT_EQ(checkpoint_sha256(folder.path()), sha256_hex(list)) << "the index goes first";
  folder.write("x.safetensors", one_tensor("b", "5679"));
  EXPECT_NE(checkpoint_sha256(index), sha256_hex(list));
}

}  // namespace
}  // namespace bic::safetensors
