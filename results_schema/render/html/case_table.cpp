#include "results_schema/render/html/case_table.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "results_schema/json.h"
#include "results_schema/render/failure_text.h"
#include "results_schema/render/markdown.h"

namespace bic::report {
namespace {

class Words {
 public:
  std::size_t operator()(const std::string& word) {
    const auto [at, added] = numbers_.try_emplace(word, words_.size());
    if (added) words_.push_back(word);
    return at->second;
  }
  const std::vector<std::string>& all() const { return words_; }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

/// Head, dims and attributes, trials, law and seed: a case string cut at three of its colons. The
/// trials are the first part that begins with the batch's B; dims and attributes are lower case.
std::array<std::string, 4> cut(const std::string& name) {
  const std::size_t dims = name.find(':'), trials = name.find(":B", dims);
  const std::size_t law = name.find(':', trials + 1);
  return {name.substr(0, dims),
          trials > dims ? name.substr(dims + 1, trials - dims - 1) : "",
          name.substr(trials + 1, law - trials - 1),
          name.substr(law + 1)};
}

std::string reasons_text(const CaseResult& c) {
  std::vector<std::string_view> names;
  for (const Reason reason : c.reasons) names.push_back(name(reason));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string case_table(const Report& report) {
  Words words;
  auto cases = nlohmann::json::array(), red = nlohmann::json::array();
  for (std::size_t s = 0; s < kStatusCount; ++s) {
    const auto status = static_cast<Status>(s);
    if (is_red(status)) red.push_back(words(std::string(name(status))));
  }
  for (const CaseResult& c : report.cases) {
    nlohmann::json row = nlohmann::json::array();
    for (const std::string& part : cut(c.case_name)) row.push_back(words(part));
    row.push_back(words(std::string(name(c.status))));
    row.push_back(words(reasons_text(c)));
    row.push_back(words(c.detail ? detail_text(*c.detail) : ""));
    cases.push_back(std::move(row));
  }
  const std::string text = canonical_json({{"words", words.all()},
                                           {"repro", repro_line(report, "CASE")},
                                           {"red", red},
                                           {"cases", cases}});
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

}  // namespace bic::report
