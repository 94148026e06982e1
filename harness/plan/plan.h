#pragma once

#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "harness/plan/problem.h"
#include "harness/plan/shapes.h"
#include "suites/relations/relation.h"

namespace bic {

/// How much is tried. Each is a fixed plan, never a clock.
enum class Strength : std::uint8_t { kQuick, kStandard, kExhaustive };
std::string_view name(Strength);

/// What of the suite a run covers, and the user's own sizes.
struct Selection {
  std::vector<const OpSpec*> ops;
  std::vector<DType> dtypes;
  std::vector<const Relation*> relations;
  Level target = Level::kSchedule;  ///< relations above it are left out
  bool accuracy = true;             ///< the accuracy problems too
  /// ECMAScript regex searched in `op[-variant].relation/dtype`; empty: all.
  std::optional<std::regex> pattern;
  Dims dims;                     ///< fixed extents; empty: drawn
  std::vector<ShapeRow> shapes;  ///< sizes to try, instead of drawn ones where `draws` is false
  std::vector<std::int64_t> batches;  ///< empty: the suite's list
  std::vector<std::string> suites;    ///< parts of the suite, by name; empty: those of every run
  std::vector<std::string> presets;   ///< of whole models; empty: those of every run
  bool draws = true;                  ///< sizes of ops are drawn
  bool decoders = false;              ///< those at temperature 0 are asked (decoder_suite.h)
  bool filtered = false;              ///< any of the above is narrower than the suite

  /// The parts of the suite as reports write them: "pi0,public"; empty for all of it.
  std::string suite_text() const;
  /// Whether the problems of a whole model's variant are selected.
  bool takes_preset(const Variant& variant) const;
  /// Whether cases of this kind are selected by relation, level and pattern.
  bool takes(const OpSpec& op,
             const Variant& variant,
             std::string_view relation,
             DType dtype) const;
};

/// A problem to be drawn: all but dims, seed and samples.
struct ProblemPlan {
  const OpSpec* op = nullptr;
  const Variant* variant = nullptr;
  DType dtype = DType::kFloat32;
  Law law = Law::kNormal;
  int index = 0;  ///< among the problems of its op, dtype and kind
  bool accuracy = false;
  const Relation* only = nullptr;     ///< drawn for this relation alone; null: for all
  const ShapeRow* shape = nullptr;    ///< its dims and batch sizes; null: drawn
  std::int64_t most_elements = 8192;  ///< of a sample whose dims are drawn
};

/// The problems of one op and dtype, which one row of the table shows.
struct Cell {
  const OpSpec* op = nullptr;
  DType dtype = DType::kFloat32;
  std::vector<ProblemPlan> problems;
  std::size_t place = 0;  ///< among the cells of the whole plan
};

/// Quick: six problems that count (every variant at least once) and sixteen for accuracy, a cell;
/// the 16-bit sweeps of pointwise ops take six for each variant. Standard and exhaustive: 4 and 16
/// times as many, and one for each size of a public model. The rows of `Selection::shapes` stand
/// beside drawn sizes or in their place; ops without any problem are left out. `selection` must
/// outlive the plan.
std::vector<Cell> make_plan(const Selection& selection, Strength strength);

/// Whether a problem that proves bits has cases of the relation.
bool has_cases(const ProblemPlan& plan, const Relation& relation, const Selection& selection);

/// Draws dims, except those that the plan or `fixed` gives, and seed. `attempt` counts redraws of a
/// problem whose controls agreed; the third takes the op's strongest law. Adding an op never
/// changes another's problems.
Problem draw(const ProblemPlan& plan, Seed run_seed, const Dims& fixed, int attempt);

/// Batch sizes of a problem, ascending: the selection's, the shape's or the suite's, of which a
/// model's size takes as many as a fixed amount of work allows; a sweep adds the one that holds all
/// inputs of its type.
std::vector<std::int64_t> batches_of(const ProblemPlan& plan,
                                     const Problem& problem,
                                     const Selection& selection);

}  // namespace bic
