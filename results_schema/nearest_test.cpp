#include "results_schema/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace bic {
namespace {

const std::vector<std::string> kOps{
    "softmax", "log_softmax", "mm", "bmm", "rms_norm", "layer_norm"};

TEST(EditDistance, CountsEachKindOfEditOnce) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("abc", "axc"), 1u);
  EXPECT_EQ(edit_distance("abc", "abxc"), 1u);
  EXPECT_EQ(edit_distance("abc", "ac"), 1u);
  EXPECT_EQ(edit_distance("abcd", "acbd"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

// The optimal string alignment never edits between swapped letters; the unrestricted distance is 2.
TEST(EditDistance, IsTheOptimalStringAlignment) { EXPECT_EQ(edit_distance("ca", "abc"), 3u); }

TEST(Nearest, FindsAMistypedName) {
  EXPECT_EQ(nearest("sofmax", kOps), "softmax");
  EXPECT_EQ(nearest("SoftMax", kOps), "softmax");
  EXPECT_EQ(nearest("rmsnorm", kOps), "rms_norm");
  EXPECT_EQ(nearest("bm", kOps), "mm");
  EXPECT_EQ(nearest("softmax", kOps), "softmax");
}

TEST(Nearest, FindsNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("conv2d", kOps), "");
  EXPECT_EQ(nearest("", kOps), "");
  EXPECT_EQ(nearest("x", std::vector<std::string>{"y"}), "");
  EXPECT_EQ(nearest("softmax", {}), "");
}

TEST(Nearest, EndsAnErrorLine) {
  EXPECT_EQ(did_you_mean("sofmax", kOps), "; did you mean 'softmax'?");
  EXPECT_EQ(did_you_mean("conv2d", kOps), "");
}

}  // namespace
}  // namespace bic
