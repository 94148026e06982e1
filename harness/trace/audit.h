#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "harness/trace/op_case.h"
#include "harness/trace/traced_model.h"
#include "results_schema/model_row.h"

namespace bic {

/// One call that a model makes, as often as it makes it with these shapes.
struct AuditEntry {
  OpSight op;
  std::int64_t count = 0;
  bool own = false;      ///< the backend's kernel ran
  bool reduces = false;  ///< adds values along an axis, so that their order can show
  std::variant<OpCase, std::string> op_case;  ///< of the call itself, or why there is none
};

/// What one forward pass of a model over a batch reaches, in the order of the first of each.
struct Audit {
  ModelChoice choice;
  std::int64_t batch = 1;
  std::vector<AuditEntry> entries;

  /// Overloads that reduce, each once, of which not the backend's kernel but another ran.
  std::vector<std::string> foreign_reductions() const;
};

Audit audit(const AskStudy& ask,
            const ModelChoice& choice,
            std::int64_t batch,
            const OwnOverloads& own);

/// The same with calls of one overload, dtypes and ranks together, as a report has it.
std::vector<report::ModelOp> summary(const Audit& audit);

/// Adds `batch` and `audit` of results_schema/trace.schema.json.
void add_audit(nlohmann::json& j, const Audit& audit);

/// A line a call, then the reductions that are not the backend's.
std::string audit_text(const Audit& audit, const std::string& backend);

/// The rows of `--suite pi0-ops` of these audits, as CSV (docs/shapes.md), and as comments why the
/// other calls are not among them.
std::string shapes_csv(std::span<const Audit> audits);

}  // namespace bic
