#include "suites/models/safetensors/layout.h"

#include <gmock/gmock.h>

#include "results_schema/error.h"
#include "suites/models/safetensors/test_files.h"

namespace bic::safetensors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Entry> described(const std::string& bytes) {
  return describe(std::as_bytes(std::span(bytes)), "w.safetensors");
}

std::vector<Entry> described(const std::string& header, std::size_t bytes) {
  return described(file_of(header, std::string(bytes, 'x')));
}

/// The one line with which a file is refused.
std::string refusal(const std::string& bytes) {
  try {
    described(bytes);
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), testing::Not(HasSubstr("\n")));
    EXPECT_THAT(e.what(), testing::StartsWith("w.safetensors: "));
    return e.what();
  }
  return "accepted";
}

std::string refusal(const std::string& header, std::size_t bytes) {
  return refusal(file_of(header, std::string(bytes, 'x')));
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TEST(SafetensorsLayout, TensorsComeInTheOrderOfTheirBytes) {
  const auto entries =
      described(R"({"__metadata__":{"format":"pt"},"a":)" + tensor("F32", "[2,3]", "[4,28]") +
                    R"(,"b":)" + tensor("BF16", "[2]", "[0,4]") + "}  ",
                28);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "b");
  EXPECT_EQ(entries[1].name, "a");
  EXPECT_THAT(entries[1].shape, ElementsAre(2, 3));
  EXPECT_EQ(entries[1].dtype, "F32");
  EXPECT_EQ(entries[1].end - entries[1].begin, 24u);
  EXPECT_EQ(entries[0].end, entries[1].begin);
}

TEST(SafetensorsLayout, ScalarsAndEmptyTensorsAreTensors) {
  const auto entries = described(R"({"empty":)" + tensor("F32", "[0,7]", "[0,0]") +
                                     R"(,"scalar":)" + tensor("F64", "[]", "[0,8]") + "}",
                                 8);
  ASSERT_EQ(entries.size(), 2u);
}

TEST(SafetensorsLayout, TruncatedFilesAreRefused) {
  EXPECT_THAT(refusal("1234567"), HasSubstr("7 bytes are too few"));
  EXPECT_THAT(refusal(file_of("{}", "").substr(0, 9)), HasSubstr("truncated: a header of 2 bytes"));
  EXPECT_THAT(refusal(R"({"a":)" + tensor("F32", "[2]", "[0,8]") + "}", 7),
              HasSubstr("truncated: tensor \"a\" ends at byte"));
}

TEST(SafetensorsLayout, AnOversizedHeaderIsRefused) {
  EXPECT_THAT(refusal(std::string(8, '\xff') + "{}"), HasSubstr("longer than the 100000000"));
}

TEST(SafetensorsLayout, OverlappingAndUnclaimedBytesAreRefused) {
  const std::string a = R"({"a":)" + tensor("F32", "[2]", "[0,8]");
  EXPECT_THAT(refusal(a + R"(,"b":)" + tensor("F32", "[2]", "[4,12]") + "}", 12),
              HasSubstr("tensor \"b\" at byte"));
  EXPECT_THAT(refusal(a + R"(,"b":)" + tensor("F32", "[2]", "[12,20]") + "}", 20),
              HasSubstr("before tensor \"b\", are of no tensor"));
  EXPECT_THAT(refusal(a + "}", 11), HasSubstr("the last 3 bytes are of no tensor"));
}

TEST(SafetensorsLayout, SizesThatDisagreeAreRefused) {
  EXPECT_THAT(refusal(R"({"a":)" + tensor("F32", "[3]", "[0,8]") + "}", 8),
              HasSubstr("has bytes 0 to 8, its shape and dtype 12 bytes"));
  EXPECT_THAT(refusal(R"({"a":)" + tensor("F32", "[2]", "[8,0]") + "}", 8),
              HasSubstr("has bytes 8 to 0"));
  EXPECT_THAT(refusal(R"({"a":)" + tensor("F32", "[4294967296,4294967296]", "[0,8]") + "}", 8),
              HasSubstr("more elements than memory"));
  EXPECT_THAT(refusal(R"({"a":)" + tensor("F33", "[2]", "[0,8]") + "}", 8),
              HasSubstr("no dtype \"F33\""));
}

TEST(SafetensorsLayout, MalformedHeadersAreRefused) {
  EXPECT_THAT(refusal("[]", 0), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal("{", 0), HasSubstr("header: not JSON"));
  EXPECT_THAT(refusal(R"({"a":1})", 0), HasSubstr("described by no object"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","shape":[1]}})", 4), HasSubstr("no 'data_offsets'"));
  EXPECT_THAT(refusal(R"({"a":)" + tensor("F32", "[-1]", "[0,4]") + "}", 4),
              HasSubstr("-1 is no size"));
  EXPECT_THAT(refusal(R"({"a":)" + tensor("F32", "[1]", "[0]") + "}", 4),
              HasSubstr("not two numbers"));
  const std::string twice = R"("a":)" + tensor("F32", "[1]", "[0,4]");
  EXPECT_THAT(refusal("{" + twice + "," + twice + "}", 4), HasSubstr("appears twice"));
}

TEST(SafetensorsLayout, ANameWithALineBreakStaysInOneLine) {
  EXPECT_THAT(refusal(R"({"a\nb":1})", 0), HasSubstr(R"("a\nb")"));
}

TEST(SafetensorsLayout, AnIndexNamesFilesBesideItself) {
  const auto map = read_index(R"({"metadata":{"total_size":8},"weight_map":{"a":"x.safetensors"}})",
                              "index.json");
  EXPECT_EQ(map.at("a"), "x.safetensors");
  for (const char* outside : {"../x", "/etc/x", "", "..", "."}) {
    EXPECT_THROW(read_index(std::string(R"({"weight_map":{"a":")") + outside + "\"}}", "i"),
                 UsageError)
        << outside;
  }
  EXPECT_THROW(read_index(R"({"weight_map":{}})", "i"), UsageError);
  EXPECT_THROW(read_index(R"({"map":{}})", "i"), UsageError);
}

}  // namespace
}  // namespace bic::safetensors
