#include "results_schema/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "results_schema/error.h"

namespace bic {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const std::string& text) {
  try {
    return "accepted as " + read_json(text, "r.json").dump();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), StartsWith("r.json: "));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
}

TEST(ReadJson, ReadsAValue) {
  const json read = read_json(R"( {"a": [1, -2, true, null, "x"], "b": {}} )"
                              "\n",
                              "r.json");
  EXPECT_EQ(read, json({{"a", {1, -2, true, nullptr, "x"}}, {"b", json::object()}}));
}

TEST(ReadJson, ReadsTheLargestIntegers) {
  EXPECT_EQ(read_json("9223372036854775807", "r").get<std::int64_t>(), INT64_MAX);
  EXPECT_EQ(read_json("-9223372036854775808", "r").get<std::int64_t>(), INT64_MIN);
}

TEST(ReadJson, RefusesAKeyThatAppearsTwice) {
  EXPECT_THAT(refusal(R"({"a": 1, "b": {"c": 1, "c": 1}})"), HasSubstr(R"(key "c" appears twice)"));
  EXPECT_THAT(refusal(R"({"b": [{"c": 1}, {"c": 1, "c": 2}]})"), HasSubstr(R"(in "/b/c")"));
  EXPECT_THAT(refusal(R"({"a": 1, "\u0061": 1})"), HasSubstr(R"(key "a" appears twice)"));
}

TEST(ReadJson, AcceptsAKeyAgainInAnotherObject) {
  EXPECT_NO_THROW(read_json(R"([{"a": {"a": 1}}, {"a": 1}])", "r.json"));
}

TEST(ReadJson, RefusesEveryNumberButIntegersOf64Bits) {
  for (const char* number : {"1.5",
                             "1.0",
                             "1e3",
                             "1E0",
                             "-0.0",
                             "9223372036854775808",
                             "18446744073709551616",
                             "-9223372036854775809",
                             "1e999"}) {
    EXPECT_THAT(refusal("{\"a\": " + std::string(number) + "}"), HasSubstr(number));
  }
  EXPECT_THAT(refusal(R"({"a": [1, 2.5]})"), HasSubstr(R"(number 2.5 is not an integer)"));
  EXPECT_THAT(refusal(R"({"a": [1, 2.5]})"), HasSubstr(R"(in "/a")"));
}

TEST(ReadJson, RefusesWhatIsNotOneJsonValue) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "{} x",
                           "{}{}",
                           "{},",
                           "[1,]",
                           "{a: 1}",
                           "NaN",
                           "Infinity",
                           "// c\n{}",
                           "'a'",
                           "\"a\nb\"",
                           "\"\xff\"",
                           "01",
                           "+1"}) {
    EXPECT_THAT(refusal(text), StartsWith("r.json: not JSON at byte ")) << text;
  }
}

TEST(ReadJson, RefusesDeepNests) {
  EXPECT_NO_THROW(read_json(std::string(64, '[') + std::string(64, ']'), "r.json"));
  EXPECT_THAT(refusal(std::string(65, '[') + std::string(65, ']')), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal(std::string(100000, '[')), HasSubstr("nested deeper"));
}

TEST(CanonicalJson, IsTheSameTextHoweverTheValueWasMade) {
  const json value = read_json(R"({ "b" : [1,  2], "a" : "\u00e9/\n" })", "r");
  EXPECT_EQ(canonical_json(value), "{\"a\":\"\xc3\xa9/\\n\",\"b\":[1,2]}");
  EXPECT_EQ(canonical_json(read_json(canonical_json(value), "r")), canonical_json(value));
}

TEST(CanonicalJson, RefusesFloatsAndNamesTheirPlace) {
  for (const double number : {1.5, 2.0, -0.0, std::nan(""), HUGE_VAL}) {
    try {
      canonical_json({{"a", {1, {{"b", number}}}}});
      ADD_FAILURE() << "wrote " << number;
    } catch (const HarnessError& error) {
      EXPECT_THAT(error.what(), HasSubstr("'/a/1/b'"));
    }
  }
}

TEST(CanonicalJson, WritesBytesThatAreNotUtf8) {
  EXPECT_EQ(canonical_json("a\xff"), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace bic
