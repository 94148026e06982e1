#pragma once

#include <string>
#include <utility>
#include <vector>

#include "suites/ops/op_spec.h"

namespace bic::ops {

/// Which axes a row reduction sums over, as users write it.
struct RowLayout {
  std::string name;
  std::vector<std::string> x, y;
  std::string dims;
  std::string keepdim = "False";
  std::vector<std::string> reduced = {"h"};
};

inline std::vector<RowLayout> row_layouts() {
  return {{"", {"B", "h"}, {"B"}, "[1]"},
          {"keepdim", {"B", "h"}, {"B", "1"}, "[1]", "True"},
          {"two", {"B", "s", "h"}, {"B"}, "[1, 2]", "False", {"s", "h"}},
          {"middle", {"B", "h", "p"}, {"B", "p"}, "[1]"},
          {"dim0", {"h", "B"}, {"B"}, "[0]"}};
}

inline std::vector<DimRange> row_dims() { return {{"h", 16, 4096}, {"s", 1, 24}, {"p", 1, 24}}; }

/// The variant of that layout and call, and of the given-output form, if there is one.
inline Variant row_variant(const RowLayout& layout,
                           const std::string& call,
                           const std::string& out,
                           Attributes attributes = {}) {
  Variant v{.name = layout.name,
            .call = "(y) = " + call,
            .inputs = {{"x", layout.x}},
            .output = {"y", layout.y},
            .reduced = layout.reduced,
            .forms = {},
            .attributes = std::move(attributes)};
  if (!out.empty()) v.forms["out"] = "(y) = " + out;
  return v;
}

/// Variance or its root (`op`: var, std) of that layout.
inline Variant moment_variant(const RowLayout& layout,
                              const std::string& op,
                              const std::string& correction) {
  const std::string arguments =
      "(x, " + layout.dims + ", correction=" + correction + ", keepdim=" + layout.keepdim;
  return row_variant(layout,
                     "aten::" + op + ".correction" + arguments + ")",
                     "aten::" + op + ".correction_out" + arguments + ", out=y)",
                     {{"correction", correction}, {"output", op}});
}

}  // namespace bic::ops
