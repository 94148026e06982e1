#include "results_schema/render/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <pugixml.hpp>
#include <regex>
#include <set>

#include "results_schema/report_example.h"

namespace bic::report {
namespace {

using testing::HasSubstr;

/// The rules that the schemas of Ant's and of Jenkins' reports share, and those of Jenkins for what
/// lies inside a test. Empty when the text keeps them, else the first that it breaks.
class Rules {
 public:
  std::string broken_by(const std::string& text) {
    pugi::xml_document document;
    const auto read = document.load_string(text.c_str());
    if (!read) return std::string("not XML: ") + read.description();
    for (const unsigned char c : text) {
      if (c < ' ' && c != '\n' && c != '\t') return "a character that XML 1.0 does not know";
    }
    const pugi::xml_node root = document.document_element();
    if (std::string(root.name()) != "testsuites") return "the root is no testsuites";
    int id = 0;
    for (const pugi::xml_node suite : root.children()) check_suite(suite, id++);
    return broken_;
  }

 private:
  void demand(bool holds, const std::string& rule) {
    if (!holds && broken_.empty()) broken_ = rule;
  }

  void check_attributes(pugi::xml_node node, const std::set<std::string>& known) {
    std::set<std::string> seen;
    for (const auto attribute : node.attributes()) {
      demand(known.contains(attribute.name()), std::string("unknown ") + attribute.name());
      seen.insert(attribute.name());
    }
    demand(seen == known, std::string(node.name()) + " lacks an attribute");
  }

  void check_suite(pugi::xml_node suite, int id) {
    demand(std::string(suite.name()) == "testsuite", "only suites in the root");
    check_attributes(suite,
                     {"name",
                      "package",
                      "id",
                      "hostname",
                      "timestamp",
                      "tests",
                      "failures",
                      "errors",
                      "skipped",
                      "time"});
    demand(suite.attribute("id").as_int(-1) == id, "ids count from 0");
    demand(names_.insert(suite.attribute("name").value()).second, "a suite's name is its own");
    const std::regex time("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}");
    demand(std::regex_match(suite.attribute("timestamp").value(), time), "no ISO 8601 time");
    std::string order;
    std::map<std::string, int> count;
    for (const pugi::xml_node child : suite.children()) {
      const std::string name = child.name();
      order += name == "properties"   ? 'p'
               : name == "testcase"   ? 't'
               : name == "system-out" ? 'o'
               : name == "system-err" ? 'e'
                                      : '?';
      if (name == "testcase") check_test(child, count);
    }
    demand(std::regex_match(order, std::regex("pt*oe")), "order of a suite's children: " + order);
    demand(suite.attribute("tests").as_int() == count["testcase"], "tests is another number");
    demand(suite.attribute("failures").as_int() == count["failure"], "failures is another number");
    demand(suite.attribute("errors").as_int() == count["error"], "errors is another number");
    demand(suite.attribute("skipped").as_int() == count["skipped"], "skipped is another number");
    for (const pugi::xml_node property : suite.child("properties").children()) {
      demand(std::string(property.name()) == "property", "only property in properties");
      check_attributes(property, {"name", "value"});
      demand(!std::string(property.attribute("name").value()).empty(), "a property's name");
    }
  }

  void check_test(pugi::xml_node test, std::map<std::string, int>& count) {
    ++count["testcase"];
    check_attributes(test, {"name", "classname", "time"});
    const std::string name = test.attribute("name").value();
    demand(!name.empty() && names_.insert(name).second, "a test's name is its own");
    int outcomes = 0;
    for (const pugi::xml_node child : test.children()) {
      const std::string kind = child.name();
      if (kind == "system-out") continue;
      demand(kind == "failure" || kind == "error" || kind == "skipped", "unknown " + kind);
      ++outcomes;
      ++count[kind];
      demand(child.attribute("message"), kind + " has no message");
      demand(kind == "skipped" || child.attribute("type"), kind + " has no type");
    }
    demand(outcomes <= 1, "a test has one outcome");
  }

  std::set<std::string> names_;
  std::string broken_;
};

std::string broken_by(const std::string& text) { return Rules().broken_by(text); }

/// A report with a case of every status.
Report every_status() {
  Report r = example_report();
  r.cases.clear();
  for (std::size_t s = 0; s < kStatusCount; ++s) {
    CaseResult result = example_pass();
    result.case_name =
        "mm.alone/bf16:k64:B" + std::to_string(s + 2) + "#42~B1#42:fill=cancel:s=0000000000000001";
    result.status = static_cast<Status>(s);
    r.cases.push_back(result);
  }
  return r;
}

TEST(Junit, KeepsTheRulesOfTheSchemas) {
  EXPECT_EQ(broken_by(junit(example_report())), "");
  EXPECT_EQ(broken_by(junit(every_status())), "");
}

TEST(Junit, KeepsThemWhateverASubjectSays) {
  Report r = example_report();
  r.cases[1].detail->message = "]]> <b>&amp;\x01\x1b[31m \xEF\xBF\xBF \"'\r\n";
  r.subject.backend = "plugin:/a b/<\"&'>.so";
  EXPECT_EQ(broken_by(junit(r)), "");
}

// The rules themselves can be broken.
TEST(Junit, RulesSeeWhatBreaksThem) {
  const std::string good = junit(example_report());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return broken_by(text.replace(at, from.size(), to));
  };
  EXPECT_THAT(changed("failures=\"1\"", "failures=\"2\""), HasSubstr("failures is another"));
  EXPECT_THAT(changed("<properties>", "<system-err /><properties>"), HasSubstr("order of"));
  EXPECT_THAT(changed("timestamp=\"2026", "timestamp=\"26"), HasSubstr("ISO 8601"));
  EXPECT_THAT(changed(" classname=\"bi-conform.mm.bf16\"", ""), HasSubstr("lacks an attribute"));
  EXPECT_THAT(changed("<failure ", "<skipped message=\"\" /><failure "), HasSubstr("one outcome"));
  EXPECT_THAT(changed("skipped=\"", "skipped=\"9"), HasSubstr("skipped is another"));
  EXPECT_THAT(changed("</testsuites>", ""), HasSubstr("not XML"));
}

TEST(Junit, GivesEachStatusItsOutcome) {
  pugi::xml_document document;
  document.load_string(junit(every_status()).c_str());
  std::map<std::string, std::string> outcome;
  for (const pugi::xml_node test :
       document.document_element().child("testsuite").children("testcase")) {
    const std::string message = test.first_child().attribute("message").value();
    outcome[message.empty() ? "pass" : message] = test.first_child().name();
  }
  const std::map<std::string, std::string> expected{{"pass", ""},
                                                    {"fail", "failure"},
                                                    {"unstable", "failure"},
                                                    {"refused", "failure"},
                                                    {"crash", "error"},
                                                    {"timeout", "error"},
                                                    {"blocked", "error"},
                                                    {"error", "error"},
                                                    {"unexpected_pass", "failure"},
                                                    {"vacuous", "skipped"},
                                                    {"waived", "skipped"},
                                                    {"unsupported", "skipped"},
                                                    {"skipped", "skipped"}};
  EXPECT_EQ(outcome, expected);
}

TEST(Junit, TellsHowAFailureIsRepeated) {
  pugi::xml_document document;
  document.load_string(junit(example_report()).c_str());
  const pugi::xml_node suite = document.document_element().child("testsuite");
  EXPECT_STREQ(suite.attribute("name").value(), "mm bf16");
  const pugi::xml_node test =
      suite.find_child_by_attribute("testcase", "name", example_fail().case_name.c_str());
  EXPECT_STREQ(test.attribute("classname").value(), "bi-conform.mm.bf16");
  EXPECT_EQ(std::string(test.child("system-out").text().get()),
            "repro: bi-conform repro '" + example_fail().case_name +
                "' --backend libtorch --python python3.9\n");
  EXPECT_THAT(test.child("failure").text().get(),
              HasSubstr("made smaller: FAIL mm.alone bf16 B=8"));
  EXPECT_STREQ(test.child("failure").attribute("message").value(), "fail bits accuracy");
}

TEST(Junit, HasTheDecodersBesideTheOps) {
  Report r = example_report();
  r.decoder = {example_decoder(), example_held_decoder()};
  r.decoder[1].question.preset = "tiny-ragged";
  pugi::xml_document document;
  document.load_string(junit(r).c_str());
  std::string seen;
  for (const pugi::xml_node suite : document.document_element().children("testsuite")) {
    if (!std::string(suite.attribute("name").value()).starts_with("decoder ")) continue;
    for (const pugi::xml_node test : suite.children("testcase")) {
      seen += std::string(test.attribute("name").value()) + " " + test.first_child().name() + "\n";
      const std::string out = test.child("system-out").text().get();
      EXPECT_EQ(out.empty(), test.first_child().empty());
      if (out.empty()) continue;
      EXPECT_THAT(out, HasSubstr("--suite decoder --preset "));
    }
  }
  std::string expected;
  for (const DecoderRow& row : r.decoder) {
    expected += name(row.question) + (row.status == Status::kPass ? " \n" : " failure\n");
  }
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(broken_by(junit(r)), "");
}

TEST(Junit, HasTheTensorsOfModelsBesideTheOps) {
  Report r = example_report();
  r.models[0].status = Status::kFail;
  r.models[0].reasons = {Reason::kAccuracy};
  pugi::xml_document document;
  document.load_string(junit(r).c_str());
  const pugi::xml_node suite = document.document_element().find_child_by_attribute(
      "testsuite", "name", "tensors of pi0 bf16");
  const pugi::xml_node test = suite.child("testcase");
  EXPECT_STREQ(test.attribute("name").value(), "pi0.tiny/bf16");
  EXPECT_STREQ(test.child("failure").attribute("message").value(), "fail accuracy");
  EXPECT_THAT(test.child("system-out").text().get(),
              HasSubstr("--suite pi0 --preset tiny --dtype bf16 --relation accuracy --backend"));
  EXPECT_EQ(broken_by(junit(r)), "");
}

}  // namespace
}  // namespace bic::report
