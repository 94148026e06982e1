#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bic {

/// A tensor as an op inside a model was given it or left it.
struct TensorSight {
  std::string dtype;
  std::vector<std::int64_t> shape, strides;
  auto operator<=>(const TensorSight&) const = default;
};

/// A call through the dispatcher inside a model.
struct CallSight {
  std::string overload;                        ///< "aten::mean.dim"; "aten::mm" for a default one
  std::vector<TensorSight> inputs;             ///< in order, those of lists one by one
  std::map<std::string, std::string> options;  ///< what is no tensor and not None, by name
  auto operator<=>(const CallSight&) const = default;
};

/// An op that wrote something.
struct OpSight {
  CallSight call;
  std::optional<CallSight> caller;  ///< the outermost call that it served, where it is another
  std::vector<TensorSight> outputs;
  auto operator<=>(const OpSight&) const = default;
};

void from_json(const nlohmann::json& j, TensorSight& t);
void from_json(const nlohmann::json& j, CallSight& c);
void from_json(const nlohmann::json& j, OpSight& o);
void to_json(nlohmann::json& j, const TensorSight& t);
void to_json(nlohmann::json& j, const CallSight& c);
void to_json(nlohmann::json& j, const OpSight& o);

/// "[2,3]".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// "aten::mm(fp32 [18,44], fp32 [44,60] strides [1,44])": strides where they are not row-major.
std::string to_text(const CallSight& call);

/// The op itself, and after it the call that it served: "aten::bmm(…), called by aten::matmul(…)".
std::string to_text(const OpSight& op);

/// Names of the overloads that are a backend's own.
using OwnOverloads = std::set<std::string>;

/// Whether the backend's kernel ran: its own overload, on values, which it has kernels for.
bool is_own(const OpSight& op, const OwnOverloads& own);

}  // namespace bic
