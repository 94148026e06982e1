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

/// XML 1.0 has no way to write control characters, not even escaped, nor U+FFFE and U+FFFF.
std::string clean(std::string text) {
  for (char& c : text) {
    const bool control = static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t';
    if (control) c = '?';
  }
  for (const char* none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (auto at = text.find(none); at != std::string::npos; at = text.find(none)) {
      text.replace(at, 3, "?");
    }
  }
  return text;
}

void set(pugi::xml_node node, const char* key, const std::string& value) {
  node.append_attribute(key).set_value(clean(value).c_str());
}

void set_text(pugi::xml_node node, const std::string& value) {
  node.text().set(clean(value).c_str());
}

std::string words_of(const CaseResult& r) {
  std::string words(name(r.status));
  for (const Reason reason : r.reasons) words += " " + std::string(name(reason));
  return words;
}

class Writer {
 public:
  explicit Writer(const Report& report) : report_(report) {
    for (const Failure& f : report.failures) failures_.emplace(f.found, &f);
  }

  std::string text();

 private:
  void add_suite(const Suite& suite, const std::vector<const CaseResult*>& cases);
  void add_properties(pugi::xml_node suite);
  void add_case(pugi::xml_node suite, const CaseResult& result, const Suite& of);
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

void Writer::add_case(pugi::xml_node suite, const CaseResult& result, const Suite& of) {
  pugi::xml_node test = suite.append_child("testcase");
  set(test, "classname", fmt::format("bi-conform.{}.{}", of.first, name(of.second)));
  set(test, "name", result.case_name);
  set(test, "time", "0");
  const char* const element = element_of(result.status);
  if (element == nullptr) return;
  pugi::xml_node outcome = test.append_child(element);
  set(outcome, "message", words_of(result));
  if (std::string_view(element) == "skipped") return;
  set(outcome, "type", std::string(name(result.status)));
  set_text(outcome, story(result));
  set_text(test.append_child("system-out"),
           "repro: " + repro_line(report_, result.case_name) + "\n");
}

void Writer::add_suite(const Suite& of, const std::vector<const CaseResult*>& cases) {
  std::map<std::string_view, int> count;
  for (const CaseResult* c : cases) {
    if (const char* const element = element_of(c->status)) ++count[element];
  }
  pugi::xml_node suite = root_.append_child("testsuite");
  set(suite, "name", fmt::format("{} {}", of.first, name(of.second)));
  set(suite, "package", "bi-conform");
  set(suite, "id", std::to_string(suites_++));
  set(suite, "hostname", "localhost");  // reports do not say
  set(suite, "timestamp", report_.run.started.substr(0, 19));
  set(suite, "tests", std::to_string(cases.size()));
  set(suite, "failures", std::to_string(count["failure"]));
  set(suite, "errors", std::to_string(count["error"]));
  set(suite, "skipped", std::to_string(count["skipped"]));
  set(suite, "time", "0");
  add_properties(suite);
  for (const CaseResult* c : cases) add_case(suite, *c, of);
  suite.append_child("system-out");
  suite.append_child("system-err");
}

std::string Writer::text() {
  root_ = document_.append_child("testsuites");
  set(root_, "name", "bi-conform");
  std::map<Suite, std::vector<const CaseResult*>> suites;
  for (const CaseResult& result : report_.cases) {
    const CaseName n = parse_case_name(result.case_name);
    suites[{n.op, n.dtype}].push_back(&result);
  }
  for (const OpRow& row : report_.ops) {
    const auto at = suites.find({row.op, row.dtype});
    if (at != suites.end()) add_suite(at->first, at->second);
  }
  std::ostringstream out;
  document_.save(out, " ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

}  // namespace

std::string junit(const Report& report) { return Writer(report).text(); }

}  // namespace bic::report
