#include "results_schema/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "results_schema/error.h"
#include "results_schema/report_example.h"
#include "results_schema/report_json.h"
#include "results_schema/report_schema.h"

namespace bic::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

json example_json() { return report_to_json(example_report()); }

// The names in the schema and in the vocabulary are written twice; this keeps them equal.
template <typename Enum>
void expect_same_names(const char* definition, std::size_t count, int first = 0) {
  const json names = json::parse(schema_text())["definitions"][definition]["enum"];
  ASSERT_EQ(names.size(), count) << definition;
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(names[i], name(static_cast<Enum>(static_cast<int>(i) + first))) << definition;
  }
}

TEST(ReportSchema, HasTheVocabularysNames) {
  expect_same_names<DType>("dtype", kAllDTypes.size());
  expect_same_names<Status>("status", kStatusCount);
  expect_same_names<Reason>("reason", kReasonCount);
  expect_same_names<Level>("level", 6, -1);
}

TEST(ReportSchema, AcceptsTheExample) { EXPECT_EQ(schema_error(example_json()), ""); }

TEST(ReportSchema, AcceptsWhatMayBeAbsent) {
  Report report = example_report();
  report.ops[0].worst_error_ppm.reset();
  report.ops[0].throughput.reset();
  report.cases[1].detail = Detail{};
  report.failures.clear();
  report.suite.declared.clear();
  report.peer.reset();
  report.run.suite.clear();
  report.run.repro_flags.clear();
  report.run.filters.clear();
  report.run.shard.reset();
  report.run.killed_workers = 0;
  report.shards.clear();
  report.controls.laws.clear();
  report.decoder[0].answer->first_token.reset();
  report.decoder[0].answer->first_logit.reset();
  report.decoder[0].answer->first_log_probability.reset();
  EXPECT_EQ(schema_error(report_to_json(report)), "");
  report.decoder[0].answer.reset();
  EXPECT_EQ(schema_error(report_to_json(report)), "");
  report.decoder.clear();
  report.models[0].accuracy.reset();
  report.models[0].ops.clear();
  EXPECT_EQ(schema_error(report_to_json(report)), "");
  report.models.clear();
  report.suite.weights.reset();
  report.waivers.clear();
  EXPECT_EQ(schema_error(report_to_json(report)), "");
}

// Every member of every object that the example shows, save those of free maps, is needed; and no
// object takes another one.
TEST(ReportSchema, NeedsEveryMemberAndTakesNoOther) {
  const json whole = example_json();
  const json flat = whole.flatten();
  const std::vector<std::string> optional{"worst_error_ppm",
                                          "throughput",
                                          "detail",
                                          "first_index",
                                          "bits_a",
                                          "bits_b",
                                          "ulps",
                                          "starts_at_batch",
                                          "suite",
                                          "repro_flags",
                                          "killed_workers",
                                          "kill_matrix_sha256",
                                          "program_sha256",
                                          "inputs",
                                          "pattern",
                                          "excused"};
  int removed = 0;
  for (const auto& [path, value] : flat.items()) {
    const json::json_pointer at(path);
    const json::json_pointer parent = at.parent_pointer();
    const bool is_free =
        std::ranges::any_of(std::array{"/fingerprint/", "/variables/", "/manifest/", "/changed/"},
                            [&](const char* free) { return path.find(free) != std::string::npos; });
    if (is_free || !whole.at(parent).is_object()) continue;
    json extra = whole;
    extra.at(parent)["surplus"] = 1;
    EXPECT_THAT(schema_error(extra), HasSubstr("surplus")) << path;
    json less = whole;
    less.at(parent).erase(at.back());
    const bool may_miss = testing::Value(at.back(), testing::AnyOfArray(optional));
    EXPECT_EQ(schema_error(less).empty(), may_miss) << path;
    ++removed;
  }
  EXPECT_GT(removed, 90);
}

TEST(ReportSchema, RefusesAFloatWhereverANumberIs) {
  const json whole = example_json();
  int numbers = 0;
  const json flat = whole.flatten();
  for (const auto& [path, value] : flat.items()) {
    if (!value.is_number()) continue;
    json wrong = whole;
    wrong.at(json::json_pointer(path)) = value.get<double>() + 0.5;
    EXPECT_NE(schema_error(wrong), "") << path;
    ++numbers;
  }
  EXPECT_GT(numbers, 60);
}

struct Wrong {
  const char* path;
  json value;
};

TEST(ReportSchema, RefusesWrongValuesAndNamesTheirPlace) {
  const std::vector<Wrong> wrongs{
      {"/schema_version", 2},
      {"/suite/name", "other"},
      {"/cases/0/status", "passed"},
      {"/cases/1/reasons/0", "bit"},
      {"/cases/0/digest", "0xff"},
      {"/cases/0/digest", std::string(100000, 'a')},
      {"/cases/1/detail/bits_a", "3f1c"},
      {"/cases/1/detail/ulps", -1},
      {"/failures/0/found", ""},
      {"/failures/0/shrunk/status", "failed"},
      {"/failures/0/classes/0/0", 0},
      {"/failures/0/classes/0", json::array()},
      {"/failures/0/relations/0/status", "held"},
      {"/run/suite", ""},
      {"/run/plan", "c"},
      {"/run/target", "BI-5"},
      {"/run/repro_flags", ""},
      {"/run/shard/index", 0},
      {"/run/shard/rows/0", -1},
      {"/shards/0/count", 0},
      {"/shards/0/started", "yesterday"},
      {"/peer/backend", ""},
      {"/suite/declared/0/sha256", "b"},
      {"/controls/laws/0/changed/reversed", "100"},
      {"/decoder/0/question/preset", ""},
      {"/decoder/0/question/seed", "7"},
      {"/decoder/0/status", "varies"},
      {"/decoder/0/answer/largest", "3e-6"},
      {"/decoder/0/answer/least_lead", 1},
      {"/decoder/0/answer/first_logit/bits_served", "-1.5"},
      {"/models/0/preset", ""},
      {"/models/0/accuracy/worst/error", "1e-6"},
      {"/models/0/accuracy/worst/share_ppm", -1},
      {"/models/0/ops/0/count", 0},
      {"/models/0/ops/0/inputs/0", "bf16"},
      {"/suite/weights/sha256", "e"},
      {"/waivers/0/expires", "soon"},
      {"/waivers/0/owner", ""},
      {"/waivers/0/state", "late"},
      {"/ops/0/throughput/ratios_ppm/0", -1},
      {"/ops/0/throughput/backend_blocks_ns/0", -1},
      {"/ops/0/dtype", "float32"},
      {"/ops/0/level", "BI-5"},
      {"/ops/0/cases/pass", -1},
      {"/ops/0/cases/pass", "1"},
      {"/ops/0/throughput/unit", "tokens"},
      {"/run/seed", "7"},
      {"/run/strength", "fast"},
      {"/run/started", "yesterday"},
      {"/run/complete", 1},
      {"/subject/libraries/0/name", "/usr/lib/libx.so"},
      {"/subject/libraries/0/sha256", "A"},
      {"/subject/fingerprint/torch", 2},
      {"/verdict/exit_code", 6},
  };
  for (const Wrong& wrong : wrongs) {
    json report = example_json();
    report.at(json::json_pointer(wrong.path)) = wrong.value;
    const std::string section = json::json_pointer(wrong.path).to_string().substr(1, 3);
    EXPECT_THAT(schema_error(report), StartsWith("[" + section)) << wrong.path;
  }
}

TEST(Report, RoundTripsExactly) {
  const std::string text = write_report(example_report());
  EXPECT_EQ(write_report(read_report(text)), text);
  const Report read = read_report(text);
  EXPECT_EQ(read.run.seed, example_report().run.seed);
  EXPECT_EQ(read.subject.manifest, example_report().subject.manifest);
  EXPECT_EQ(read.cases[1].detail->ulps, 1);
  EXPECT_EQ(read.ops[0].throughput->ratio_ppm, 900000);
  EXPECT_EQ(read.ops[0].cases, example_report().ops[0].cases);
}

// Another valid value of the same kind.
json changed(const json& value) {
  static const std::map<std::string, std::string> kOther{{"bf16", "fp64"},
                                                         {"BI-0", "BI-3"},
                                                         {"BI-3", "BI-0"},
                                                         {"pass", "vacuous"},
                                                         {"fail", "crash"},
                                                         {"bits", "shape"},
                                                         {"accuracy", "witness"},
                                                         {"cancel", "edge"},
                                                         {"used", "unused"},
                                                         {"unused", "expired"},
                                                         {"9f3c51d20b7e4a11", "0000000000000001"}};
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<std::int64_t>() + 1;
  const auto text = value.get<std::string>();
  const auto other = kOther.find(text);
  return other == kOther.end() ? text + "0" : other->second;
}

// So that no member is forgotten, or written under another's name.
TEST(Report, KeepsEachMemberWhenItAloneChanges) {
  const json whole = example_json();
  const json flat = whole.flatten();
  for (const auto& [path, value] : flat.items()) {
    if (value.is_null()) continue;  // an empty list
    json other = whole;
    other.at(json::json_pointer(path)) = changed(value);
    EXPECT_EQ(report_to_json(report_from_json(other)), other) << path;
  }
}

TEST(Report, IsReadStrictly) {
  const std::string text = write_report(example_report());
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string wrong = text;
    const std::size_t at = wrong.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    wrong.replace(at, from.size(), to);
    try {
      read_report(wrong, "r.json");
      return "accepted " + to;
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refusal("\"bytes\":12345", "\"bytes\":12345.0"), HasSubstr("12345.0"));
  EXPECT_THAT(refusal("\"bytes\":12345", "\"bytes\":1,\"bytes\":12345"), HasSubstr("twice"));
  EXPECT_THAT(refusal("\"status\":\"fail\"", "\"status\":\"failed\""), StartsWith("r.json: [cas"));
  EXPECT_THAT(refusal("\"planned\":5", "\"planned\":6"), HasSubstr("6 cases were planned"));
  EXPECT_THAT(refusal("\"planned\":5,", ""), HasSubstr("planned"));
}

TEST(Report, IsNotWrittenWhenWrong) {
  const std::vector<void (*)(Report&)> breaks = {
      [](Report& r) { r.subject.manifest = R"({"limit": 0.5})"; },
      [](Report& r) { r.subject.manifest = "{"; },
      [](Report& r) { r.run.started = ""; },
      [](Report& r) { r.totals.planned = 6; },
      [](Report& r) { r.run.duration_ns = -1; },
  };
  for (std::size_t i = 0; i < breaks.size(); ++i) {
    Report report = example_report();
    breaks[i](report);
    EXPECT_THROW(write_report(report), HarnessError) << "break " << i;
  }
}

TEST(Report, SurvivesAMessageThatIsNotUtf8) {
  Report report = example_report();
  report.cases[1].detail->message = "bad \xff byte";
  EXPECT_EQ(read_report(write_report(report)).cases[1].detail->message, "bad \xef\xbf\xbd byte");
}

TEST(Report, IsSavedWholeOrNotAtAll) {
  const std::filesystem::path path = testing::TempDir() + "report_test.json";
  save_report(example_report(), path);
  EXPECT_EQ(write_report(load_report(path)), write_report(example_report()));
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".partial"));
  std::filesystem::remove(path);
  EXPECT_THROW(load_report(path), UsageError);
  EXPECT_THROW(save_report(example_report(), "/nonexistent/r.json"), UsageError);
}

}  // namespace
}  // namespace bic::report
