#include "results_schema/render/html.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "results_schema/error.h"
#include "results_schema/report_example.h"

namespace bic::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

/// What page.js reads.
nlohmann::json embedded(const std::string& page) {
  const std::string open = R"(<script type="application/json" id="case-json">)";
  const std::size_t from = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

nlohmann::json example_trace() {
  auto trace = nlohmann::json::parse(R"({
    "trace": 1, "suite_version": "0.1.0", "backend": "libtorch", "device": "cpu", "model": "pi0",
    "preset": "tiny", "dtype": "fp32", "requests": [0, 1], "position": 1, "only": "*",
    "recorded": 2, "differing": 1, "ops": [],
    "tensors": [
      {"order": 0, "section": "prefill", "name": "a<b", "invocation": 0, "dtype": "fp32",
       "shape": [1], "op": -1, "same_shape": true, "equal": true},
      {"order": 1, "section": "prefill", "name": "c", "invocation": 0, "dtype": "fp32",
       "shape": [1], "op": -1, "same_shape": true, "equal": false,
       "distance": {"max_abs": "0x1p-20", "mean_abs": "0x1p-20", "rmse": "0x1p-20",
                    "relative_l2": "0x1p-20", "output_abs_max": "0x1p+0"}}],
    "first_divergence": {"tensor": 1, "op": {
      "own": false, "output": 0, "axis": 0, "only_alone": [], "only_batched": [],
      "case": "gelu.alone/fp32:h3:B2@1#0~B1#0:fill=normal:s=0000000000000000"}}})");
  const auto op = nlohmann::json::parse(
      R"({"call": {"overload": "aten::gelu", "inputs": [], "options": {}}, "outputs": []})");
  trace["first_divergence"]["op"].update({{"alone", op}, {"batched", op}});
  return trace;
}

TEST(Html, SaysTheVerdictInAPlainSentence) {
  Report r = example_report();
  const std::string page = html(r);
  EXPECT_THAT(page, HasSubstr("✕</span> Does not conform</h1>"));
  EXPECT_THAT(page, HasSubstr("<p class=\"sentence\">1 of 1 op failed. In it a sample"));
  EXPECT_THAT(page, HasSubstr("<strong>Incomplete run:</strong> budget of 60s"));
  r.verdict.exit_code = 0;
  r.verdict.level = Level::kSchedule;
  EXPECT_THAT(html(r), HasSubstr("Conforms</h1>"));
  EXPECT_THAT(html(r), HasSubstr("Every sample kept its bits whatever its batch"));
  r.totals.cases[Status::kWaived] = 2;
  EXPECT_THAT(html(r), Not(HasSubstr("Every sample kept its bits")));
  EXPECT_THAT(html(r), HasSubstr("Nothing failed but what is waived, 2 cases: somebody"));
  r.verdict.exit_code = 3;
  EXPECT_THAT(html(r), HasSubstr("Nothing failed, but too little was shown"));
}

TEST(Html, CountsTheOpsThatTheBackendClaims) {
  Report r = example_report();
  OpRow unclaimed = example_op();
  unclaimed.op = "gelu";
  unclaimed.cases = {};
  unclaimed.cases[Status::kUnsupported] = 5;
  r.ops.push_back(unclaimed);
  EXPECT_THAT(html(r), HasSubstr("<p class=\"sentence\">1 of 1 op failed."));
  EXPECT_THAT(html(r), HasSubstr("<dt>ops that failed</dt><dd>1 of 1</dd>"));
  r.verdict.exit_code = 0;
  EXPECT_THAT(html(r), HasSubstr(", on 1 op.</p>"));
}

TEST(Html, SaysWhatDecodersAndModelsDidWhereNoOpRan) {
  Report r = example_report();
  r.ops.clear();
  r.cases.clear();
  r.failures.clear();
  r.totals = {};
  r.decoder = {example_held_decoder()};
  r.verdict = {.conforms = true, .strength = "quick", .text = "temperature 0"};
  EXPECT_THAT(html(r),
              HasSubstr("<p class=\"sentence\">A prompt had one answer whoever else was served, on "
                        "1 decoder. Every tensor of 1 model is within its bound.</p>"));
  r.models.clear();
  r.decoder.push_back(example_decoder());
  r.decoder[1].status = Status::kWaived;
  EXPECT_THAT(html(r), HasSubstr("Nothing failed but what is waived, 1 decoder: somebody"));
}

TEST(Html, ShowsTheLevelOfEachOpAndDtype) {
  Report r = example_report();
  OpRow held = example_op();
  held.op = "softmax";
  held.cases = {};
  held.cases[Status::kPass] = 7;
  held.level = Level::kSchedule;
  OpRow unclaimed = held;
  unclaimed.op = "gelu";
  unclaimed.cases = {};
  unclaimed.cases[Status::kUnsupported] = 1;
  r.ops.insert(r.ops.end(), {held, unclaimed});
  const std::string page = html(r);
  EXPECT_THAT(page, HasSubstr("aria-label=\"mm bf16: BI-0 1 of 5 cases red\""));
  EXPECT_THAT(page, HasSubstr("aria-label=\"softmax bf16: BI-3 7 cases\""));
  EXPECT_THAT(page, HasSubstr("aria-label=\"gelu bf16:  not claimed or not run\""));
}

TEST(Html, DrawsAMapForEachFailingRowAndSaysHowItsFailureIsRepeated) {
  const std::string page = html(example_report());
  EXPECT_EQ(count(page, "<svg class=\"map\""), 1u);
  EXPECT_THAT(page, HasSubstr("<title>B=9 position 3: bits B</title>"));
  EXPECT_THAT(page, HasSubstr("<title>B=7 position 3: the bits it has alone</title>"));
  EXPECT_THAT(page, HasSubstr("bit classes of B: {1-7} {8-9}"));
  EXPECT_THAT(page,
              HasSubstr("data-copy=\"bi-conform repro &apos;mm.alone/bf16:k2:B8#0~B1#0:fill=cancel:"
                        "s=0000000000000001&apos; --backend libtorch --python python3.9\""));
}

TEST(Html, NamesPlacesWithoutOutputApartFromThoseWithOtherBits) {
  Report r = example_report();
  CaseResult crash = example_pass();
  crash.case_name = "mm.alone/bf16:k64:B5@3#42~B1#42:fill=cancel:s=0000000000000001";
  crash.status = Status::kCrash;
  crash.digest = "";
  r.cases.push_back(crash);
  EXPECT_THAT(
      html(r),
      HasSubstr("in 1 of 3 places a sample had other bits than alone, from B=9 on; in 1 of "
                "3 places no output came, first at B=5. Of 1 problems, 1 with other bits."));
}

TEST(Html, ShowsErrorAndSpeedBesideTheirNumbers) {
  const std::string page = html(example_report());
  EXPECT_THAT(page, HasSubstr("<rect class=\"within\" width=\"13\" height=\"10\"/></svg> 13.0 %"));
  EXPECT_THAT(page,
              HasSubstr("<rect class=\"slow\" x=\"-2.5\" y=\"1\" width=\"2.5\" height=\"8\"/>"));
  EXPECT_THAT(page, HasSubstr(" 0.90×"));
  EXPECT_THAT(page, HasSubstr("<desc id=\"err-d\">bf16: 1 row, 0 beyond the bound.</desc>"));
}

TEST(Html, ListsEveryCaseOnceInWhatItsScriptReads) {
  const nlohmann::json table = embedded(html(example_report()));
  const auto& words = table.at("words");
  ASSERT_EQ(table.at("cases").size(), 2u);
  std::vector<std::string> texts;
  for (const auto& index : table.at("cases").at(1)) texts.push_back(words.at(index.get<int>()));
  EXPECT_EQ(texts,
            (std::vector<std::string>{
                "mm.alone/bf16",
                "k64",
                "B9@3#42~B1#42",
                "fill=cancel:s=0000000000000001",
                "fail",
                "bits, accuracy",
                "12 of 1024 elements differ, first [17] 0x3f1c vs 0x3f1d (1 ulp); starts at B=5; "
                "12 of 1024 elements differ"}));
  EXPECT_EQ(table.at("repro"), "bi-conform repro 'CASE' --backend libtorch --python python3.9");
}

TEST(Html, ShowsHostileTextAsText) {
  const std::string hostile =
      "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{x}}";
  Report r = example_report();
  r.subject.backend = r.subject.device = r.peer->backend = r.verdict.text = hostile;
  r.ops[0].op = r.ops[0].why = r.ops[0].relations[0].relation = hostile;
  r.cases[1].detail->message = r.failures[0].shrunk.detail->message = hostile;
  r.failures[0].note = r.failures[0].relations[0].relation = hostile;
  r.waivers[0].pattern = r.waivers[0].reason = r.waivers[0].owner = hostile;
  r.decoder[0].message = r.decoder[0].question.preset = hostile;
  r.environment.cpu = r.environment.isa = r.run.command_line = r.run.incomplete_reason = hostile;
  r.environment.variables[hostile] = r.subject.fingerprint[hostile] = hostile;
  r.subject.libraries[0].name = hostile;
  const std::string page = html(r);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_EQ(count(page, "<script"), 2u);
  EXPECT_EQ(count(page, "</script>"), 2u);
  EXPECT_GT(count(page, "&lt;img src=x onerror=alert(1)&gt;&quot;&apos;&amp;{{x}}"), 20u);
  const auto words = embedded(page).at("words");
  EXPECT_THAT(words.dump(), HasSubstr("</script><script>alert(1)"));
}

TEST(Html, NamesNoPlaceToFetchFrom) {
  const std::string page = html(example_report());
  for (const char* part : {"http:", "https:", " src=", "url(", "@import", "<link"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(Html, HoldsFiftyThousandFailuresInFifteenMegabytes) {
  Report r = example_report();
  r.cases.clear();
  for (int i = 0; i < 50'000; ++i) {
    CaseResult c = example_fail();
    c.case_name = fmt::format("mm.alone/bf16:k{},n{}:B{}@3#{}~B1#{}:fill=cancel:s={:016x}",
                              i % 977,
                              i % 131,
                              4 + i % 300,
                              i % 500,
                              i % 500,
                              i / 30);
    c.detail->bits_a = fmt::format("0x{:016x}", 7919 * i);
    c.detail->message = fmt::format("element [{}] is {:a}, the oracle says {:a}, the bound is {:a}",
                                    i,
                                    i / 3.0,
                                    i / 7.0,
                                    1e-3 / (i + 1));
    r.cases.push_back(c);
  }
  const std::string page = html(r);
  EXPECT_EQ(embedded(page).at("cases").size(), 50'000u);
  EXPECT_LE(page.size(), 15'000'000u);
  EXPECT_LE(count(page, "<tr"), 100u);  // the cases are no rows before the script asks for some
}

TEST(Html, DrawsTheTraceOfAModel) {
  const nlohmann::json trace = example_trace();
  check_trace(trace, "t.json");
  const std::string page = html(example_report(), &trace);
  EXPECT_THAT(page, HasSubstr("1 of 2 tensors differ; the first is prefill: c fp32."));
  EXPECT_THAT(page, HasSubstr("<path class=\"equal\" d=\"M287.5 250V247\"/>"));
  EXPECT_THAT(page, HasSubstr("first divergence</text>"));
  EXPECT_THAT(page, HasSubstr("first op that differs: aten::gelu, stock&apos;s kernel\nrepro: "));
  EXPECT_THAT(html(example_report()), Not(HasSubstr("id=\"trace\"")));
}

TEST(Html, RefusesWhatIsNoTrace) {
  nlohmann::json trace = example_trace();
  trace["differing"] = -1;
  EXPECT_THROW(check_trace(trace, "t.json"), UsageError);
  EXPECT_THROW(check_trace(nlohmann::json::object(), "t.json"), UsageError);
  for (const char* index : {"2", "-1", "18446744073709551615", "36893488147419103232"}) {
    trace = example_trace();
    trace["first_divergence"]["tensor"] = nlohmann::json::parse(index);
    EXPECT_THROW(check_trace(trace, "t.json"), UsageError) << index;
  }
}

}  // namespace
}  // namespace bic::report
