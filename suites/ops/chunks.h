#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bic::ops {

/// An operand of which a form `chunk` takes a part of the rows, and the axis of those.
struct CutOperand {
  std::string name;
  int axis = 0;
};

/// The text of form `chunk`: `call` on all rows but the last three, on the two before the last and
/// on the last one, as a prompt in two pieces and a token that is decoded; `call` is given what the
/// names of cut operands end in. The first two calls get the last row too and leave out what they
/// make of it: an op need not take no rows at all.
inline std::string in_chunks(const std::vector<CutOperand>& cut,
                             int output_axis,
                             const std::function<std::string(const std::string&)>& call) {
  const auto slice = [](const std::string& to, const std::string& t, int axis, const char* range) {
    return "(" + to + ") = aten::slice.Tensor(" + t + ", " + std::to_string(axis) + ", " + range +
           ");";
  };
  std::string text;
  for (const auto& [t, axis] : cut) {
    text += slice(t + "0", t, axis, "0, -3") + slice(t + "2", t, axis, "-3") +
            slice(t + "3", t, axis, "-1") + "(" + t + "1) = aten::cat.default([" + t + "0, " + t +
            "3], " + std::to_string(axis) + ");";
  }
  text += "(z1) = " + call("1") + ";" + slice("y1", "z1", output_axis, "0, -1");
  text += "(z2) = " + call("2") + ";" + slice("y2", "z2", output_axis, "0, -1");
  text += "(y3) = " + call("3") + ";";
  return text + "(y) = aten::cat.default([y1, y2, y3], " + std::to_string(output_axis) + ")";
}

}  // namespace bic::ops
