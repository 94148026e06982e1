#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "results_schema/vocabulary.h"

namespace bic::faults {

/// A backend broken in one way: `fault:NAME` is libtorch-invariant with this fault.
struct Fault {
  std::string_view name;              ///< [a-z0-9-]+
  std::string_view group;             ///< class of faults, one of groups()
  std::string_view sentence;          ///< what it does and which report or mechanism it imitates
  std::vector<std::string_view> ops;  ///< suite ops it touches, each of which must show it
  std::vector<DType> dtypes;          ///< in which it is looked for, at least one: every op
                                      ///< must show it in one of them
  std::vector<std::string_view> relations;  ///< each of which must see it; "accuracy" is one
  Status status;                            ///< of those cases
  std::optional<Reason> reason;  ///< among their reasons; empty where the status says all
  bool keeps_accuracy;           ///< its results hold the accuracy bound: only bits can show it
};

/// The classes of faults, in the order of the tables.
std::span<const std::string_view> groups();

/// All of them. Plain data: the program lists them, the worker builds them, a test demands that
/// each is seen as it says.
std::span<const Fault> catalog();

/// The fault of that name, or null.
const Fault* find(std::string_view name);

}  // namespace bic::faults
