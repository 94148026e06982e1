#include "results_schema/render/junit.h"

#include <fmt/format.h>

#include <map>
#include <pugixml.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "results_schema/case_name.h"
#include "results_schema/render/failure_text.h"
#include "results_schema/render/markdown.h"
#include "results_schema/render/xml_text.h"

namespace bic::report {
namespace {

using Suite = std::pair<std::string, DType>;

/// How a status is read: XML's element of a test, or none of one that passed.
const char* element_of(Status s) {
  switch (s) {
    case Status::kPass:
      return nullptr;
    case Status::kFail:
    case Status::kUnstable:
    case Status::kRefused:
    case Status::kUnexpectedPass:
      return "failure";
    case Status::kError:
    case Status::kCrash:
    case Status::kTimeout:
    case Status::kBlocked:
      return "error";
    case Status::kVacuous:
    case Status::kWaived:
    case Status::kUnsupported:
    case Status::kSkipped:
      return "skipped";
  }
  return "error";
}

void set(pugi::xml_node node, const char* key, const std::string& value) {
  node.append_attribute(key).set_value(xml_text(value).c_str());
}

void set_text(pugi::xml_node node, const std::string& value) {
  node.text().set(xml_text(value).c_str());
}

/// A test as XML says it.
struct Test {
  std::string name;
  Status status = Status::kError;
  std::string words;  ///< status and reasons
  std::string story;  ///< what people are told of one that did not pass
  std::string repro;
};

std::string words_of(Status status, const std::vector<Reason>& reasons) {
  std::string words(name(status));
  for (const Reason reason : reasons) words += " " + std::string(name(reason));
  return words;
}

class Writer {
 public:
  explicit Writer(const Report& report) : report_(report) {
    for (const Failure& f : report.failures) failures_.emplace(f.found, &f);
  }

  std::string text();

 private:
  void add_suite(const Suite& suite, const std::vector<Test>& tests);
  void add_properties(pugi::xml_node suite);
  void add_test(pugi::xml_node suite, const Test& test, const Suite& of);
  Test test_of(const CaseResult& result) const;
  Test test_of(const DecoderRow& row) const;
  Test test_of(const ModelRow& row) const;
  std::string story(const CaseResult& result) const;

  const Report& report_;
  std::map<std::string_view, const Failure*> failures_;
  pugi::xml_document document_;
  pugi::xml_node root_;
  int suites_ = 0;
};

/// What people are told of a case that did not pass.
std::string Writer::story(const CaseResult& result) const {
  std::string text = failure_text(result, "bi-conform", backend_words(report_));
  const auto at = failures_.find(result.case_name);
  if (at == failures_.end()) return text;
  const CaseResult& shrunk = at->second->shrunk;
  if (shrunk.case_name != result.case_name) {
    text += "\nmade smaller: " + failure_text(shrunk, "bi-conform", backend_words(report_));
  }
  return text + "\n" + facts_text(*at->second);
}

Test Writer::test_of(const CaseResult& r) const {
  Test test{.name = r.case_name, .status = r.status, .words = words_of(r.status, r.reasons)};
  if (r.status == Status::kPass) return test;
  test.story = story(r);
  test.repro = repro_line(report_, r.case_name);
  return test;
}

Test Writer::test_of(const DecoderRow& row) const {
  return {.name = name(row.question),
          .status = row.status,
          .words = words_of(row.status, row.reasons),
          .story = row.message,
          .repro = fmt::format(
              "bi-conform --suite decoder --preset {} --dtype {} --seed {} --backend {}",
              row.question.preset,
              name(row.question.dtype),
              to_string(report_.run.seed),
              backend_words(report_))};
}

Test Writer::test_of(const ModelRow& row) const {
  return {.name = fmt::format("{}.{}/{}", row.model, row.preset, name(row.dtype)),
          .status = row.status,
          .words = words_of(row.status, row.reasons),
          .story = row.message,
          .repro = fmt::format(
              "bi-conform --suite {} --preset {} --dtype {} --relation accuracy --backend {}",
              row.model,
              row.preset,
              name(row.dtype),
              backend_words(report_))};
}

void Writer::add_properties(pugi::xml_node suite) {
  const std::vector<std::pair<std::string, std::string>> properties{
      {"backend", report_.subject.backend},
      {"device", report_.subject.device},
      {"cpu", report_.environment.cpu},
      {"isa", report_.environment.isa},
      {"suite", report_.suite.version},
      {"seed", to_string(report_.run.seed)},
      {"strength", report_.run.strength}};
  pugi::xml_node list = suite.append_child("properties");
  for (const auto& [key, value] : properties) {
    pugi::xml_node property = list.append_child("property");
    set(property, "name", key);
    set(property, "value", value);
  }
}

void Writer::add_test(pugi::xml_node suite, const Test& test, const Suite& of) {
  pugi::xml_node node = suite.append_child("testcase");
  set(node, "classname", fmt::format("bi-conform.{}.{}", of.first, name(of.second)));
  set(node, "name", test.name);
  set(node, "time", "0");
  const char* const element = element_of(test.status);
  if (element == nullptr) return;
  pugi::xml_node outcome = node.append_child(element);
  set(outcome, "message", test.words);
  if (std::string_view(element) == "skipped") return;
  set(outcome, "type", std::string(name(test.status)));
  set_text(outcome, test.story);
  set_text(node.append_child("system-out"), "repro: " + test.repro + "\n");
}

void Writer::add_suite(const Suite& of, const std::vector<Test>& tests) {
  std::map<std::string_view, int> count;
  for (const Test& t : tests) {
    if (const char* const element = element_of(t.status)) ++count[element];
  }
  pugi::xml_node suite = root_.append_child("testsuite");
  set(suite, "name", fmt::format("{} {}", of.first, name(of.second)));
  set(suite, "package", "bi-conform");
  set(suite, "id", std::to_string(suites_++));
  set(suite, "hostname", "localhost");  // reports do not say
  set(suite, "timestamp", report_.run.started.substr(0, 19));
  set(suite, "tests", std::to_string(tests.size()));
  set(suite, "failures", std::to_string(count["failure"]));
  set(suite, "errors", std::to_string(count["error"]));
  set(suite, "skipped", std::to_string(count["skipped"]));
  set(suite, "time", "0");
  add_properties(suite);
  for (const Test& t : tests) add_test(suite, t, of);
  suite.append_child("system-out");
  suite.append_child("system-err");
}

std::string Writer::text() {
  root_ = document_.append_child("testsuites");
  set(root_, "name", "bi-conform");
  std::map<Suite, std::vector<Test>> suites, whole;
  for (const CaseResult& result : report_.cases) {
    const CaseName n = parse_case_name(result.case_name);
    suites[{n.op, n.dtype}].push_back(test_of(result));
  }
  for (const OpRow& row : report_.ops) {
    const auto at = suites.find({row.op, row.dtype});
    if (at != suites.end()) add_suite(at->first, at->second);
  }
  for (const DecoderRow& row : report_.decoder) {
    whole[{"decoder", row.question.dtype}].push_back(test_of(row));
  }
  for (const ModelRow& row : report_.models) {
    whole[{"tensors of " + row.model, row.dtype}].push_back(test_of(row));
  }
  for (const auto& [suite, tests] : whole) add_suite(suite, tests);
  std::ostringstream out;
  document_.save(out, " ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

}  // namespace

std::string junit(const Report& report) { return Writer(report).text(); }

}  // namespace bic::report
