#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {

using Axes = std::vector<std::string>;

/// The image of groups that stand on an axis of their own.
constexpr auto kFlattenGroups = "(v) = aten::flatten.using_ints(x, 1, 2); ";

/// A convolution of one or two dimensions, by the rank of y. `numbers` are the digits of stride,
/// padding, dilation and groups; `steps`, where there are any, make the image v of x.
inline Variant convolution(std::string name,
                           const std::string& numbers,
                           const Axes& x,
                           const Axes& y,
                           std::string steps = "") {
  const bool flat = y.size() == 3;
  const std::string op = flat ? "aten::conv1d" : "aten::conv2d";
  const auto all = [&](const std::string& n) {
    return flat ? "[" + n + "]" : "[" + n + ", " + n + "]";
  };
  Variant v{.name = std::move(name),
            .call = steps + "(y) = " + op + ".default(" + (steps.empty() ? "x" : "v") + ", w, b, " +
                    all("stride") + ", " + all("padding") + ", " + all("dilation") + ", groups)",
            .inputs = {{"x", x}, {"w", {y[1], "c", "kh", "kw"}}, {"b", {y[1]}}},
            .output = {"y", y},
            .reduced = {"c", "kh", "kw"},
            .forms = {},
            .attributes = {{"stride", numbers.substr(0, 1)},
                           {"padding", numbers.substr(1, 1)},
                           {"dilation", numbers.substr(2, 1)},
                           {"groups", numbers.substr(3, 1)}}};
  if (flat) v.inputs[1].axes.erase(v.inputs[1].axes.begin() + 2);
  if (flat) v.reduced.erase(v.reduced.begin() + 1);
  if (x.back() == "c") v.attributes["layout"] = "channels_last";
  return v;
}

/// What the ops of this folder have in common.
inline OpSpec convolutions(std::string name,
                           std::vector<Variant> variants,
                           std::vector<DimRange> dims) {
  return {.name = std::move(name),
          .formula = "y[o,i,j] = sum_cuv x[c,i+u,j+v] w[o,c,u,v] + b[o] (torch.nn.functional)",
          .why = "libraries pick direct, im2col or Winograd kernels, by the batch and the layout",
          .bound =
              "gamma_K sum |a b| for K terms in any order, fused or not; K + 1 with a bias (Higham "
              "3.1)",
          .variants = std::move(variants),
          .laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .contraction = true,
          .dims = std::move(dims),
          .reference = convolution_reference()};
}

}  // namespace bic::ops
