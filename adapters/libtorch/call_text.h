#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bic::libtorch {

/// A name used as a value: a tensor, a dim, an attribute or a dtype, by what is bound when called.
struct CallName {
  std::string text;
  bool operator==(const CallName&) const = default;
};

/// One argument of a call as written. `std::monostate` is None; a list nests.
struct CallValue {
  using List = std::vector<CallValue>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, CallName, List> value;
  bool operator==(const CallValue&) const = default;
};

/// `(y, _) = aten::op.overload(x, [h], eps=eps)`. Targets may be absent; `_` drops a result.
struct CallStep {
  std::vector<std::string> targets;
  std::string op;        ///< "aten::mm"
  std::string overload;  ///< "" for `.default` and for none
  std::vector<CallValue> positional;
  std::vector<std::pair<std::string, CallValue>> named;
  bool operator==(const CallStep&) const = default;
};

/// Parses a call text: assignments over names and literals, separated by `;` or line ends. Literals
/// are integers, decimal or C hex-float reals, `True`, `False`, `None`, quoted strings and lists.
/// Throws HarnessError that names the place and what was expected there.
std::vector<CallStep> parse_call(std::string_view text);

/// The canonical text of a step; `parse_call` gives the same step again.
std::string to_string(const CallStep& step);

/// An attribute's text ("0x1p-10", "3", "True", "None", "tanh", "[1, 2]") as a value: whatever is
/// no literal is a string.
CallValue parse_attribute(std::string_view text);

/// The text of which `parse_attribute` makes the value.
std::string attribute_text(const CallValue& value);

}  // namespace bic::libtorch
