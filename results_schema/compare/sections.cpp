#include "results_schema/compare/sections.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "results_schema/render/failure_text.h"
#include "results_schema/render/markdown.h"

namespace bic::report {
namespace {

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string counted(const std::vector<ChangedCases>& groups) {
  std::int64_t count = 0;
  for (const ChangedCases& g : groups) count += g.count;
  return counted(count, "case");
}

std::string shown(std::optional<Status> status) {
  return status ? std::string(name(*status)) : "absent";
}

/// Beyond the bound the size says no more.
std::string percent(std::int64_t ppm) {
  return ppm > 10'000'000 ? "over 1000 %" : fmt::format("{:.1f} %", static_cast<double>(ppm) / 1e4);
}

std::string line_of(const ChangedCases& g) {
  return fmt::format("{} {} {}{}: {}, {} before, {} now",
                     g.op,
                     name(g.dtype),
                     g.relation,
                     g.size.empty() ? "" : " " + g.size,
                     counted(g.count, "case"),
                     shown(g.before),
                     shown(g.now));
}

std::string line_of(const SpeedChange& c) {
  const double percent = static_cast<double>(c.time_ppm) / 1e4 - 100;
  return fmt::format(
      "{} {} {}: {:.0f} % {}; {} ns before, {} now (fastest of {} and {} blocks), stock {:+.0f} %",
      c.op,
      name(c.dtype),
      c.shape,
      std::abs(percent),
      percent > 0 ? "slower" : "less time",
      c.before_ns,
      c.now_ns,
      c.blocks_before,
      c.blocks_now,
      static_cast<double>(c.stock_ppm) / 1e4 - 100);
}

std::string line_of(const WaiverRow& w) {
  return fmt::format(
      "{}: {} waived, {}; {}, until {}", w.cases(), w.waived, w.reason, w.owner, w.expires);
}

std::string line_of(const LevelDrop& d) {
  return fmt::format(
      "{} {}: {} before, {} now; {}", d.op, name(d.dtype), name(d.before), name(d.now), d.why);
}

std::string line_of(const ModelChange& d) {
  const std::string text =
      fmt::format("{}: {} before, {} now", d.name, shown(d.before), shown(d.now));
  return d.message.empty() ? text : text + "; " + d.message;
}

std::string line_of(const MissingRow& m) {
  return fmt::format("{} {}: {}", m.op, name(m.dtype), m.why);
}

std::string line_of(const AccuracyDrift& d) {
  return fmt::format("{} {}: worst error {} of its bound before, {} now",
                     d.op,
                     name(d.dtype),
                     percent(d.before_ppm),
                     percent(d.now_ppm));
}

/// What a failure is and how to repeat it.
class Proofs {
 public:
  Proofs(const Report& before, const Report& now, const std::string& typed)
      : now_(now), typed_(typed) {
    for (const CaseResult& result : before.cases) {
      if (is_red(result.status)) failed_.emplace(result.case_name, &result);
    }
    for (const CaseResult& result : now.cases) {
      if (is_red(result.status) || result.status == Status::kError) {
        fails_.emplace(result.case_name, &result);
      }
    }
  }

  /// Of a new failure: the one that was made small, where it is of a case that did not fail before.
  std::string failure(const ChangedCases& group) const {
    for (const Failure& f : now_.failures) {
      if (!failed_.contains(f.found) && is_of(f, group)) {
        return text_of(f.shrunk) + "\n" + facts_text(f);
      }
    }
    const auto at = fails_.find(group.example);
    return at == fails_.end() ? repro(group) : text_of(*at->second);
  }

  /// The line that repeats the first case of the group.
  std::string repro(const ChangedCases& group) const {
    return "repro: " + typed_ + " repro '" + group.example + "' --backend " + backend_words(now_);
  }

 private:
  static bool is_of(const Failure& f, const ChangedCases& group) {
    if (f.shrunk.status != group.now) return false;
    const CaseName n = parse_case_name(f.found);
    return n.op == group.op && n.dtype == group.dtype && n.relation == group.relation;
  }

  std::string text_of(const CaseResult& result) const {
    return failure_text(result, typed_, backend_words(now_));
  }

  const Report& now_;
  const std::string& typed_;
  std::map<std::string_view, const CaseResult*> failed_, fails_;
};

/// The sections while they are gathered.
class Sections {
 public:
  Sections(const Report& before, const Report& now, const std::string& typed)
      : proofs_(before, now, typed) {}

  void add_red(const Difference& d) {
    add_cases("new failures", d.cases.failures, true, &Proofs::failure);
    add("new failures of models and decoders", d.models, true, "row");
    add_cases("lost coverage", d.cases.lost, true, &Proofs::repro);
    add("required and not held", d.missing, true, "row");
    add("lower levels", d.levels, true, "row");
    add("slower", d.slower, true, "row");
    add("waivers to take out: none of their cases fails", d.stale, true, "waiver");
  }

  void add_rest(const Difference& d) {
    add_cases("newly vacuous", d.cases.vacuous, false, &Proofs::repro);
    add_cases("newly failing under a waiver", d.cases.waived, false, &Proofs::repro);
    add("waivers in use", d.used, false, "waiver");
    add("waivers that have expired, counted as absent", d.expired, false, "waiver");
    add("accuracy", d.drift, false, "row");
    add("speed undecided, for stock's own time moved too", d.unsure, false, "row");
    add("faster", d.faster, false, "row");
    add_cases("fixed", d.cases.fixed, false, nullptr);
  }

  std::vector<ChangeSection> take() { return std::move(sections_); }

 private:
  using Proof = std::string (Proofs::*)(const ChangedCases&) const;

  void add_cases(const char* title,
                 const std::vector<ChangedCases>& groups,
                 bool red,
                 Proof proof) {
    if (groups.empty()) return;
    ChangeSection section{.title = title, .sum = counted(groups), .red = red, .lines = {}};
    for (const ChangedCases& g : groups) {
      section.lines.push_back({line_of(g), proof == nullptr ? "" : (proofs_.*proof)(g)});
    }
    sections_.push_back(std::move(section));
  }

  template <typename Change>
  void add(const char* title, const std::vector<Change>& changes, bool red, const char* what) {
    if (changes.empty()) return;
    ChangeSection section{title, counted(static_cast<std::int64_t>(changes.size()), what), red, {}};
    for (const Change& change : changes) section.lines.push_back({line_of(change), ""});
    sections_.push_back(std::move(section));
  }

  const Proofs proofs_;
  std::vector<ChangeSection> sections_;
};

}  // namespace

std::vector<ChangeSection> change_sections(const Difference& difference,
                                           const Report& before,
                                           const Report& now,
                                           const std::string& typed) {
  Sections sections(before, now, typed);
  sections.add_red(difference);
  sections.add_rest(difference);
  return sections.take();
}

}  // namespace bic::report
