#pragma once

#include <string>
#include <variant>

#include "harness/plan/problem.h"
#include "harness/trace/op_sight.h"

namespace bic {

/// A call inside a model in the suite's vocabulary.
struct OpCase {
  const OpSpec* op = nullptr;
  const Variant* variant = nullptr;
  DType dtype = DType::kFloat32;
  Dims dims;
  Attributes attributes;
  std::int64_t batch = 1;  ///< samples of the suite's that the call holds
  auto operator<=>(const OpCase&) const = default;
};

/// The op-level case with the shapes of that call, or why there is none, in a few words: a call
/// that sums or approximates nothing has a reason, not a case.
std::variant<OpCase, std::string> op_case(const CallSight& call);

/// Of an op inside a model: of the call that it served where that has a case, else of its own.
std::variant<OpCase, std::string> op_case(const OpSight& op);

/// Whether the words, with spaces between them, have all of "aten::mean.dim" behind its namespace,
/// or "mean" alone.
bool name_it(std::string_view words, std::string_view overload);

}  // namespace bic
