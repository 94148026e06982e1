#include "harness/plan/prepare.h"

#include <algorithm>
#include <array>

#include "results_schema/sha256.h"

namespace bic {
namespace {

constexpr int kRedraws = 3;
constexpr std::int64_t kOracleElements = 4096;
// Terms of the oracle a sample; double-double costs some twenty times as much a term.
constexpr std::int64_t kOracleTerms = std::int64_t{1} << 22, kOracleTermsFp64 = kOracleTerms / 8;

Case make_case(const Prepared& p,
               std::string_view relation,
               Level level,
               const Trial& trial,
               const std::optional<Trial>& against,
               std::optional<Law> neighbour_law) {
  const auto runs = [&](const Trial& t) {
    return canonical(p.problem, p.telling.samples, planned(t, neighbour_law));
  };
  std::vector<Trial> trials{trial};
  if (against) trials.push_back(*against);
  Case c{.name = to_string(case_name(p.problem, relation, std::move(trials), neighbour_law)),
         .relation = relation,
         .level = level,
         .named = trial,
         .named_against = against,
         .trial = runs(trial),
         .against = {}};
  if (against) c.against = runs(*against);
  return c;
}

Trial accuracy_trial(const Prepared& p) {
  const std::int64_t batch = p.batches.back();
  return {.batch = batch, .position = batch / 2, .sample = p.telling.samples[0]};
}

/// The pairs that are tried: of a full-size model, whose trials take many seconds, the first.
std::vector<TrialPair> pairs_of(const Relation& relation, const Probe& probe) {
  std::vector<TrialPair> pairs = relation.pairs(probe);
  if (probe.variant->on_request && pairs.size() > 1) pairs.resize(1);
  return pairs;
}

/// `tested` are the samples that the cases name: all that the problem tells apart, or fewer.
void add_relations(Prepared& p,
                   std::span<const SampleId> tested,
                   const ProblemPlan& plan,
                   const Selection& selection) {
  const Probe probe{.op = p.problem.op,
                    .variant = p.problem.variant,
                    .dtype = p.problem.dtype,
                    .seed = p.problem.seed,
                    .telling = tested,
                    .batches = p.batches,
                    .sweeps = p.problem.sweeps()};
  for (const Relation* r : selection.relations) {
    if (!has_cases(plan, *r, selection)) continue;
    for (const TrialPair& pair : pairs_of(*r, probe)) {
      p.cases.push_back(
          make_case(p, r->name, r->level, pair.trial, pair.against, pair.neighbour_law));
    }
  }
}

void add_cases(Prepared& p, const ProblemPlan& plan, const Selection& selection) {
  if (!p.problem.accuracy) return add_relations(p, p.telling.samples, plan, selection);
  p.cases.push_back(make_case(p, kAccuracyRelation, Level::kRepeatable, accuracy_trial(p), {}, {}));
}

void make_pool(Prepared& p) {
  std::vector<PlannedTrial> trials;
  for (const Case& c : p.cases) {
    trials.push_back(c.trial);
    if (c.against) trials.push_back(*c.against);
  }
  if (!trials.empty()) {
    p.pool = std::make_unique<Pool>(*p.inputs, p.telling.samples, trials);
  }
}

void draw_telling(Prepared& p, const ProblemPlan& plan, const Selection& selection, Seed run_seed) {
  int searched = 0;
  for (p.redraws = 0; p.redraws <= kRedraws; ++p.redraws) {
    p.problem = draw(plan, run_seed, selection.dims, p.redraws);
    p.inputs = std::make_unique<Inputs>(p.problem);
    p.telling = find_telling(*p.inputs);
    p.draws.push_back({p.problem.law,
                       p.telling.searched > 0,
                       p.telling.told_apart,
                       p.telling.compared,
                       p.telling.changed});
    p.telling.searched = searched += p.telling.searched;
    if (p.telling.told_apart) return;
  }
  p.redraws = kRedraws;
}

void add_named(Prepared& p, const CaseName& name) {
  const Relation* relation = find_relation(name.relation);
  std::optional<Trial> against;
  if (name.trials.size() > 1) against = name.trials[1];
  p.cases.push_back(make_case(p,
                              relation == nullptr ? kAccuracyRelation : relation->name,
                              relation == nullptr ? Level::kRepeatable : relation->level,
                              name.trials[0],
                              against,
                              name.neighbour_law));
}

/// The problem of a case string and its samples, without cases.
std::unique_ptr<Prepared> prepare_problem(const CaseName& name) {
  auto p = std::make_unique<Prepared>();
  p->problem = problem_of(name);
  p->inputs = std::make_unique<Inputs>(p->problem);
  p->telling = find_telling(*p->inputs);
  return p;
}

}  // namespace

const Yardstick& Prepared::yardstick(SampleId sample, const Arithmetic& arithmetic) {
  const auto [at, added] = yardsticks_.try_emplace(sample);
  Yardstick& y = at->second;
  if (!added) return y;
  const std::int64_t terms = problem.dtype == DType::kFloat64 ? kOracleTermsFp64 : kOracleTerms;
  const std::int64_t each = problem.op->contraction ? problem.reduced_extent() : 1;
  y.elements = spread_elements(problem.output_elements(),
                               std::clamp<std::int64_t>(terms / each, 1, kOracleElements));
  y.oracle.resize(y.elements.size());
  y.bound.resize(y.elements.size());
  inputs->with_operands(inputs->sample(sample), [&](const Operands& operands) {
    const Reference& reference = *problem.op->reference;
    reference.wide(operands, problem.output_dtype(), y.elements, y.oracle);
    reference.bound(operands, problem.output_dtype(), arithmetic, y.elements, y.bound);
  });
  return y;
}

const std::string& Prepared::inputs_digest(SampleId sample) {
  const auto [at, added] = inputs_digests_.try_emplace(sample);
  if (!added) return at->second;
  const SampleBytes own = inputs->sample(sample);
  std::string digests;
  for (std::size_t i = 0; i < own.size(); ++i) {
    digests += sha256_hex(inputs->is_common(i) ? inputs->common(i) : own[i]);
  }
  return at->second = sha256_hex(digests);
}

std::unique_ptr<Prepared> prepare(const ProblemPlan& plan,
                                  const Selection& selection,
                                  Seed run_seed) {
  auto p = std::make_unique<Prepared>();
  draw_telling(*p, plan, selection, run_seed);
  p->batches = batches_of(plan, p->problem, selection);
  add_cases(*p, plan, selection);
  make_pool(*p);
  return p;
}

std::unique_ptr<Prepared> outline(const ProblemPlan& plan,
                                  const Selection& selection,
                                  Seed run_seed) {
  auto p = std::make_unique<Prepared>();
  p->problem = draw(plan, run_seed, selection.dims, 0);
  p->telling = {.samples = {SampleId{0}}, .told_apart = true};
  p->batches = batches_of(plan, p->problem, selection);
  add_cases(*p, plan, selection);
  return p;
}

std::unique_ptr<Prepared> prepare_to_time(const ProblemPlan& plan,
                                          std::int64_t batch,
                                          Seed run_seed) {
  auto p = std::make_unique<Prepared>();
  p->problem = draw(plan, run_seed, {}, 0);
  p->inputs = std::make_unique<Inputs>(p->problem);
  p->telling = {.samples = {SampleId{0}}};
  p->batches = {batch};
  const Trial once{.batch = batch, .company = Company::kTwins};
  Trial again = once;
  again.run = 1;
  p->cases.push_back(make_case(*p, "repeat", Level::kRepeatable, once, again, {}));
  make_pool(*p);
  return p;
}

std::unique_ptr<Prepared> prepare_case(const CaseName& name) {
  auto p = prepare_problem(name);
  add_named(*p, name);
  make_pool(*p);
  return p;
}

std::unique_ptr<Prepared> prepare_around(const CaseName& name, std::vector<std::int64_t> batches) {
  auto p = prepare_problem(name);
  p->batches = std::move(batches);
  add_named(*p, name);
  const Trial alone{.sample = name.trials[0].sample};
  for (const std::int64_t batch : p->batches) {
    Trial placed = alone;
    placed.batch = batch;
    placed.position = std::min(name.trials[0].position, batch - 1);
    if (batch > 1) p->cases.push_back(make_case(*p, "alone", Level::kBatch, placed, alone, {}));
  }
  Selection all;
  for (const Relation& r : relations()) all.relations.push_back(&r);
  const ProblemPlan plan{
      .op = p->problem.op, .variant = p->problem.variant, .dtype = p->problem.dtype};
  add_relations(*p, std::array{alone.sample}, plan, all);
  make_pool(*p);
  return p;
}

}  // namespace bic
