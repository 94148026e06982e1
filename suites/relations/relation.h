#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results_schema/case_name.h"
#include "suites/ops/op_spec.h"

namespace bic {

/// What a relation may know of a problem when it chooses trials: never the backend.
struct Probe {
  const OpSpec* op = nullptr;
  const Variant* variant = nullptr;
  DType dtype = DType::kFloat32;
  Seed seed;
  std::span<const SampleId> telling;      ///< samples under test, at least one
  std::span<const std::int64_t> batches;  ///< ascending, at least one
  bool sweeps = false;  ///< telling samples are all inputs of a 16-bit type, each needed once

  std::int64_t largest() const { return batches.back(); }
};

/// Two trials that must agree on the samples they have in common.
struct TrialPair {
  Trial trial;
  Trial against;
  std::optional<Law> neighbour_law;  ///< of neighbour sets 1, 2, …
};

/// A property, as data: the engine knows only trials and bytes.
struct Relation {
  std::string_view name;
  Level level;             ///< kNone: of no level
  std::string_view claim;  ///< one sentence, present tense
  bool (*required)(const OpSpec&, const Variant&);
  std::vector<TrialPair> (*pairs)(const Probe&);
};

/// The relations that levels are made of everywhere, by level.
std::span<const Relation> relations();

/// Further ones, of backends on a device: `stream` and `graph`. They belong to levels there.
std::span<const Relation> device_relations();

/// The relation of a run with a second backend, `--against`. It belongs to no level: what a backend
/// holds does not depend on whom it is compared with.
const Relation& peer_relation();

/// Names of all of them, for a person who typed another.
std::vector<std::string> relation_names();

/// Any of them; null when there is none of that name.
const Relation* find_relation(std::string_view name);

/// The relation that single trials of accuracy problems belong to; it has no pairs.
inline constexpr std::string_view kAccuracyRelation = "accuracy";

// What the relation files share.

bool has_batch(const Variant& variant);
/// The batch size of the probe nearest to `wanted` and above 1; 0 when there is none.
std::int64_t batch_near(const Probe& probe, std::int64_t wanted);
/// A position of telling sample `which` in a batch: first, middle, last and tile edges in turn.
std::int64_t position_in(const Probe& probe, std::int64_t batch, std::size_t which);
/// `sample` at a seeded position of a batch.
Trial placed(const Probe& probe, std::int64_t batch, std::size_t which);
Trial alone(SampleId sample);

}  // namespace bic
