#include "suites/ops/conv/convolution.h"

namespace bic::ops {
namespace {

/// The patch embedding of SigLIP in pi0: three channels, the stride is the kernel.
Variant patch() {
  return {
      .name = "patch",
      .call = "(y) = aten::conv2d.default(x, w, b, [p, q])",
      .inputs = {{"x", {"B", "rgb", "p*ho", "q*wo"}}, {"w", {"n", "rgb", "p", "q"}}, {"b", {"n"}}},
      .output = {"y", {"B", "n", "ho", "wo"}},
      .reduced = {"rgb", "p", "q"},
      .forms = {},
      .attributes = {}};
}

}  // namespace

OpSpec conv2d() {
  const Axes dense{"B", "c", "ho+kh-1", "wo+kw-1"}, y{"B", "n", "ho", "wo"};
  const Axes last{"B", "ho+kh-1", "wo+kw-1", "c"}, groups{"B", "2", "c", "ho+kh-1", "wo+kw-1"};
  const std::string permute = "(v) = aten::permute.default(x, [0, 3, 1, 2]); ";
  return convolutions(
      "conv2d",
      {convolution("", "1011", dense, y),
       patch(),
       convolution("padded", "1111", dense, {"B", "n", "ho+2", "wo+2"}),
       convolution("last", "1011", last, y, permute),
       convolution(
           "strided", "2111", {"B", "c", "2*ho+kh-2", "2*wo+kw-2"}, {"B", "n", "ho+1", "wo+1"}),
       convolution("grouped", "1012", groups, {"B", "2*n", "ho", "wo"}, kFlattenGroups),
       convolution("dilated", "1021", {"B", "c", "ho+2*kh-2", "wo+2*kw-2"}, y)},
      {{"c", 22, 96},
       {"kh", 1, 5},
       {"kw", 1, 3},
       {"n", 1, 64},
       {"ho", 1, 9},
       {"wo", 1, 9},
       {"rgb", 3, 3},
       {"p", 14, 14},
       {"q", 14, 14}});
}

}  // namespace bic::ops
