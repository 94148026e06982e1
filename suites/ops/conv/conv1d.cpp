#include "suites/ops/conv/convolution.h"

namespace bic::ops {

OpSpec conv1d() {
  const Axes dense{"B", "c", "wo+kw-1"}, y{"B", "n", "wo"};
  const std::string permute = "(v) = aten::permute.default(x, [0, 2, 1]); ";
  return convolutions(
      "conv1d",
      {convolution("", "1011", dense, y),
       convolution("padded", "1111", dense, {"B", "n", "wo+2"}),
       convolution("last", "1011", {"B", "wo+kw-1", "c"}, y, permute),
       convolution("strided", "2111", {"B", "c", "2*wo+kw-2"}, {"B", "n", "wo+1"}),
       convolution(
           "grouped", "1012", {"B", "2", "c", "wo+kw-1"}, {"B", "2*n", "wo"}, kFlattenGroups),
       convolution("dilated", "1021", {"B", "c", "wo+2*kw-2"}, y)},
      {{"c", 24, 96}, {"kw", 1, 5}, {"n", 1, 64}, {"wo", 1, 48}});
}

}  // namespace bic::ops
