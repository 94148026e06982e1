#include "results_schema/compare/cases.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace bic::report {
namespace {

using Presence = std::optional<Status>;

bool passes(Presence s) { return s == Status::kPass || s == Status::kUnexpectedPass; }

bool is_failing_or_waived(Presence s) { return fails(s) || s == Status::kWaived; }

/// Where a kernel opens no parallel region there is no team to vary: nothing is lost.
bool has_nothing_to_judge(const CaseResult& result) {
  return result.status == Status::kSkipped &&
         std::ranges::count(result.reasons, Reason::kNoParallelRegion) > 0;
}

/// What cases have in common that are compared as a class.
struct Kind {
  std::string op;
  DType dtype;
  std::string relation, size;
  auto operator<=>(const Kind&) const = default;
};

/// One list of changes, equal ones counted together.
class Groups {
 public:
  void add(const Kind& kind,
           Presence before,
           Presence now,
           const std::string& example,
           std::int64_t count) {
    const auto [at, is_new] = numbers_.emplace(std::tuple(kind, before, now), groups_.size());
    if (is_new) {
      groups_.push_back({kind.op, kind.dtype, kind.relation, kind.size, before, now, 0, example});
    }
    groups_[at->second].count += count;
  }

  /// Statuses in order of precedence, then the most cases.
  std::vector<ChangedCases> worst_first() {
    std::ranges::stable_sort(groups_, [](const ChangedCases& a, const ChangedCases& b) {
      return std::tuple(a.now, b.count) < std::tuple(b.now, a.count);
    });
    return std::move(groups_);
  }

 private:
  std::map<std::tuple<Kind, Presence, Presence>, std::size_t> numbers_;
  std::vector<ChangedCases> groups_;
};

/// The cases of a class on one side.
struct Tally {
  std::int64_t judged = 0, failing = 0, vacuous = 0, nothing = 0;
  Presence worst;                                     ///< the first in order of precedence
  std::string example;                                ///< of it
  std::int64_t unmatched = 0, unmatched_failing = 0;  ///< of them, those on this side alone
  std::string failing_example;                        ///< of those

  void add(const CaseResult& result, bool matched) {
    judged += is_judged(result.status);
    failing += fails(result.status);
    vacuous += result.status == Status::kVacuous;
    nothing += has_nothing_to_judge(result);
    if (!worst || result.status < *worst) {
      worst = result.status;
      example = result.case_name;
    }
    unmatched += !matched;
    if (matched || !fails(result.status)) return;
    if (unmatched_failing++ == 0) failing_example = result.case_name;
  }
};

/// The comparison while it is made.
class CaseComparison {
 public:
  CaseComparison(const Report& before, const Report& now) : same_plan_(same_plan(before, now)) {
    const auto then = named(before), today = named(now);
    for (const auto& [text, c] : today) take_now(c, then.contains(text) ? &then.at(text) : nullptr);
    for (const auto& [text, c] : then) take_before(c, today.contains(text));
    if (!same_plan_) compare_classes();
  }

  CaseChanges changes() {
    changes_.failures = failures_.worst_first();
    changes_.lost = lost_.worst_first();
    changes_.vacuous = vacuous_.worst_first();
    changes_.waived = waived_.worst_first();
    changes_.fixed = fixed_.worst_first();
    return std::move(changes_);
  }

 private:
  struct Class {
    Tally before, now;
  };

  struct Named {
    const Kind* kind;
    const CaseResult* result;
  };

  /// In the order of their names, so that the first of a group is the same in any report.
  std::map<std::string_view, Named> named(const Report& report) {
    std::map<std::string_view, Named> cases;
    for (const CaseResult& result : report.cases) {
      const CaseName name = parse_case_name(result.case_name);
      const Kind kind{name.op, name.dtype, name.relation, size_class(name)};
      cases.emplace(result.case_name, Named{&classes_.try_emplace(kind).first->first, &result});
    }
    return cases;
  }

  static Presence status_of(const Named* c) {
    if (c == nullptr) return {};
    return c->result->status;
  }

  void take_now(const Named& c, const Named* before) {
    changes_.by_name += before != nullptr;
    const bool is_compared = (before != nullptr || same_plan_) && !has_nothing_to_judge(*c.result);
    if (is_compared) compare(c, status_of(before), c.result->status);
    classes_.at(*c.kind).now.add(*c.result, before != nullptr);
  }

  void take_before(const Named& c, bool is_there_now) {
    if (!is_there_now && same_plan_) compare(c, c.result->status, {});
    classes_.at(*c.kind).before.add(*c.result, is_there_now);
  }

  void compare(const Named& c, Presence before, Presence now) {
    Kind kind = *c.kind;
    kind.size.clear();
    if (Groups* const list = list_of(before, now)) {
      list->add(kind, before, now, c.result->case_name, 1);
    }
    changes_.still_failing += fails(before) && fails(now);
  }

  Groups* list_of(Presence before, Presence now) {
    if (fails(now)) return fails(before) ? nullptr : &failures_;
    if (passes(now)) return is_failing_or_waived(before) ? &fixed_ : nullptr;
    if (now == Status::kWaived) return is_failing_or_waived(before) ? nullptr : &waived_;
    if (!is_judged(before)) return nullptr;
    return now == Status::kVacuous ? &vacuous_ : &lost_;
  }

  void compare_classes() {
    for (const auto& [kind, c] : classes_) {
      if (c.before.unmatched + c.now.unmatched == 0) continue;
      changes_.by_class = true;
      compare_class(kind, c.before, c.now);
    }
  }

  /// What stands on one side alone.
  void compare_class(const Kind& kind, const Tally& before, const Tally& now) {
    const auto add = [&](Groups& list, const std::string& example, std::int64_t count) {
      list.add(kind, before.worst, now.worst, example, count);
    };
    if (now.unmatched_failing > 0 && before.failing == 0) {
      add(failures_, now.failing_example, now.unmatched_failing);
    }
    if (before.failing > 0) changes_.still_failing += now.unmatched_failing;
    if (before.unmatched_failing > 0 && now.failing == 0 && now.judged > 0) {
      add(fixed_, before.failing_example, before.unmatched_failing);
    }
    if (before.judged == 0 || now.judged > 0) return;
    if (now.vacuous > 0) {
      add(vacuous_, now.example, now.vacuous);
    } else if (now.nothing == 0) {
      add(lost_, before.example, before.judged);
    }
  }

  const bool same_plan_;
  std::map<Kind, Class> classes_;
  Groups failures_, lost_, vacuous_, waived_, fixed_;
  CaseChanges changes_;
};

}  // namespace

bool fails(std::optional<Status> s) {
  return s && (*s == Status::kError || (is_red(*s) && *s != Status::kUnexpectedPass));
}

bool is_judged(std::optional<Status> s) { return fails(s) || passes(s) || s == Status::kWaived; }

bool same_plan(const Report& before, const Report& now) {
  return before.run.plan == now.run.plan && before.run.seed == now.run.seed;
}

CaseChanges compare_cases(const Report& before, const Report& now) {
  return CaseComparison(before, now).changes();
}

std::string size_class(const CaseName& name) {
  std::int64_t batch = 0;
  for (const Trial& trial : name.trials) batch = std::max(batch, trial.batch);
  return batch <= 1 ? "B=1" : batch <= 16 ? "B=2-16" : batch <= 64 ? "B=17-64" : "B>64";
}

}  // namespace bic::report
