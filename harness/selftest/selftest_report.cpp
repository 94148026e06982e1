#include "harness/selftest/selftest_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/workers/environment.h"
#include "results_schema/error.h"
#include "results_schema/json.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

using nlohmann::json;

json json_of(const OpHunt& o) {
  json j{{"op", o.op}, {"judged", o.judged}, {"killed", o.kill.has_value()}};
  if (o.kill) {
    j["case"] = o.kill->case_name;
    j["relation"] = o.kill->relation;
  }
  return j;
}

json json_of(const Hunt& h, const HuntOptions& options) {
  json j{{"fault", h.fault->name},
         {"group", h.fault->group},
         {"sentence", h.fault->sentence},
         {"seed", to_string(h.seed)},
         {"killed", h.killed()},
         {"blind", h.blind(options)},
         {"inaccurate", h.inaccurate},
         {"ops", json::array()},
         {"kills", json::array()}};
  for (const OpHunt& o : h.ops) j["ops"].push_back(json_of(o));
  for (const auto& [by, cases] : h.kills) {
    j["kills"].push_back({{"law", name(by.first)}, {"relation", by.second}, {"cases", cases}});
  }
  return j;
}

/// The relations that killed first, in the suite's order; accuracy last.
std::vector<std::string> killers(const std::vector<Hunt>& hunts) {
  std::set<std::string> seen;
  for (const Hunt& h : hunts) {
    for (const OpHunt& o : h.ops) {
      if (o.kill) seen.insert(o.kill->relation);
    }
  }
  std::vector<std::string> ordered;
  for (const Relation& r : relations()) {
    if (seen.erase(std::string(r.name)) > 0) ordered.emplace_back(r.name);
  }
  ordered.insert(ordered.end(), seen.begin(), seen.end());
  return ordered;
}

std::string row(const std::vector<Hunt>& hunts,
                std::string_view group,
                const std::vector<std::string>& relations) {
  std::map<std::string, int> first;
  int faults = 0, killed = 0;
  for (const Hunt& h : hunts) {
    if (h.fault->group != group) continue;
    ++faults;
    killed += h.killed();
    for (const OpHunt& o : h.ops) {
      if (o.kill) ++first[o.kill->relation];
    }
  }
  if (faults == 0) return {};
  std::string text = fmt::format("{:<22}{:>4} of {:<4}", group, killed, faults);
  for (const std::string& r : relations) {
    const std::string count = first.contains(r) ? std::to_string(first[r]) : ".";
    text += fmt::format(" {:>{}}", count, r.size());
  }
  return text + '\n';
}

}  // namespace

std::string hunt_text(const Hunt& h) {
  const auto killed =
      std::ranges::count_if(h.ops, [](const OpHunt& o) { return o.kill.has_value(); });
  std::string text = fmt::format("{} {:<24} {:>2} of {:<2} ops ",
                                 h.killed() ? "killed  " : "SURVIVES",
                                 h.fault->name,
                                 killed,
                                 h.ops.size());
  if (h.killed()) return text + ' ' + h.ops.front().kill->case_name;
  for (const OpHunt& o : h.ops) {
    if (!o.kill) text += ' ' + o.op;
  }
  return text + fmt::format(" (seed {:x})", h.seed.value);
}

std::string kill_table(const std::vector<Hunt>& hunts) {
  const std::vector<std::string> relations = killers(hunts);
  std::string text = fmt::format("{:<22}{:<12}", "first kills by class", "killed");
  for (const std::string& r : relations) text += ' ' + r;
  text += '\n';
  for (std::string_view group : faults::groups()) text += row(hunts, group, relations);
  return text;
}

namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw HarnessError(fmt::format("cannot write '{}'", path.string()));
}

/// Cases by fault, law and relation.
std::string kill_matrix(const std::vector<Hunt>& hunts) {
  std::string text = "fault,law,relation,cases\n";
  for (const Hunt& h : hunts) {
    for (const auto& [by, cases] : h.kills) {
      text += fmt::format("{},{},{},{}\n", h.fault->name, name(by.first), by.second, cases);
    }
  }
  return text;
}

}  // namespace

void write_selftest(const SelftestOptions& options, const std::vector<Hunt>& hunts) {
  json j{{"suite_version", suite_version()},
         {"looked_with", options.recipe ? "recipe" : "suite"},
         {"full", options.hunt.full},
         {"without", options.hunt.without},
         {"hunts", json::array()}};
  for (const Hunt& h : hunts) j["hunts"].push_back(json_of(h, options.hunt));
  write_file(options.out / "selftest.json", canonical_json(j) + '\n');
  if (options.hunt.full) write_file(options.out / "kill_matrix.csv", kill_matrix(hunts));
}

}  // namespace bic
