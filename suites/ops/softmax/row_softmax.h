#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suites/ops/chunks.h"
#include "suites/ops/op_spec.h"

namespace bic::ops {

/// aten::`op` along the last axis, a middle one and the first; `options` follow the dim. Masked
/// scores are -Inf. Between the samples of a batch only `middle` has rows to cut.
inline std::vector<Variant> softmax_variants(const std::string& op,
                                             const std::string& options = "",
                                             std::optional<DType> output_dtype = {}) {
  const auto variant = [&](std::string name,
                           const std::vector<std::string>& axes,
                           const std::string& dim) {
    const std::string arguments = "(x, " + dim + options;
    return Variant{.name = std::move(name),
                   .call = "(y) = aten::" + op + ".int" + arguments + ")",
                   .inputs = {{.name = "x", .axes = axes, .masks = true}},
                   .output = {"y", axes},
                   .reduced = {"h"},
                   .masked = "h",
                   .forms = {{"out", "(y) = aten::" + op + ".int_out" + arguments + ", out=y)"}},
                   .attributes = {},
                   .output_dtype = output_dtype};
  };
  Variant middle = variant("middle", {"B", "h", "p"}, "1");
  middle.forms["chunk"] = in_chunks({{"x", 2}}, 2, [&](const std::string& part) {
    return "aten::" + op + ".int(x" + part + ", 1" + options + ")";
  });
  return {variant("", {"B", "h"}, "-1"), std::move(middle), variant("dim0", {"h", "B"}, "0")};
}

}  // namespace bic::ops
