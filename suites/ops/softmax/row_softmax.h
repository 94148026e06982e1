#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suites/ops/op_spec.h"

namespace bic::ops {

/// aten::`op` along the last axis, a middle one and the first; `options` follow the dim.
inline std::vector<Variant> softmax_variants(const std::string& op,
                                             const std::string& options = "",
                                             std::optional<DType> output_dtype = {}) {
  const auto variant = [&](std::string name,
                           const std::vector<std::string>& axes,
                           const std::string& dim) {
    const std::string arguments = "(x, " + dim + options;
    return Variant{.name = std::move(name),
                   .call = "(y) = aten::" + op + ".int" + arguments + ")",
                   .inputs = {{"x", axes}},
                   .output = {"y", axes},
                   .reduced = {"h"},
                   .forms = {{"out", "(y) = aten::" + op + ".int_out" + arguments + ", out=y)"}},
                   .attributes = {},
                   .output_dtype = output_dtype};
  };
  return {variant("", {"B", "h"}, "-1"),
          variant("middle", {"B", "h", "p"}, "1"),
          variant("dim0", {"h", "B"}, "0")};
}

}  // namespace bic::ops
