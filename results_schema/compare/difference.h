#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results_schema/compare/cases.h"
#include "results_schema/compare/speed.h"
#include "results_schema/report.h"

namespace bic::report {

/// A row that holds less than it did.
struct LevelDrop {
  std::string op;
  DType dtype = DType::kFloat32;
  Level before = Level::kNone;
  Level now = Level::kNone;
  std::string why;  ///< the first relation that it does not hold any more
};

/// A whole model, or a decoder at temperature 0, that fails now and did not, or was judged and is
/// not.
struct ModelChange {
  std::string name;              ///< "pi0 tiny bf16", "decoder.tiny/bf16"
  std::optional<Status> before;  ///< empty: it was not asked
  std::optional<Status> now;
  std::string message;
};

/// A row whose worst error moved, in ppm of its bound.
struct AccuracyDrift {
  std::string op;
  DType dtype = DType::kFloat32;
  std::int64_t before_ppm = 0;
  std::int64_t now_ppm = 0;
};

/// What a required op and dtype lacks.
struct MissingRow {
  std::string op;
  DType dtype = DType::kFloat32;
  std::string why;
};

/// What changed between two reports; each list worst first.
struct Difference {
  CaseChanges cases;                ///< red: failures and lost ones
  std::vector<ModelChange> models;  ///< red
  std::vector<MissingRow> missing;  ///< red: required of a gate, and not held
  std::vector<LevelDrop> levels;    ///< red: rows of the same plan that hold less
  std::vector<SpeedChange> slower;  ///< red
  std::vector<SpeedChange> unsure;  ///< slower or faster, but stock's own time moved too
  std::vector<SpeedChange> faster;
  std::vector<WaiverRow> stale;  ///< red: none of its cases failed
  std::vector<WaiverRow> used;
  std::vector<WaiverRow> expired;
  std::vector<AccuracyDrift> drift;  ///< of rows of the same plan
  std::string why_no_speed;          ///< why speed was not compared; empty where it was

  bool red() const;
};

/// The old report and the new one.
Difference compare(const Report& before, const Report& now);

}  // namespace bic::report
