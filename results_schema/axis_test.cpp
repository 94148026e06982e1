#include "results_schema/axis.h"

#include <gtest/gtest.h>

#include "results_schema/error.h"

namespace bic {
namespace {

const Dims kDims{{"k", 64}, {"kh", 3}, {"ho", 7}};

TEST(AxisExtent, ReadsDimsNumbersAndTheBatch) {
  EXPECT_EQ(axis_extent("k", kDims, 5), 64);
  EXPECT_EQ(axis_extent("8", kDims, 5), 8);
  EXPECT_EQ(axis_extent("B", kDims, 5), 5);
  EXPECT_EQ(axis_extent("k*B", kDims, 5), 320);
  EXPECT_EQ(axis_extent("8*B", kDims, 1), 8);
}

TEST(AxisExtent, ReadsLinearExpressions) {
  EXPECT_EQ(axis_extent("ho+kh-1", kDims, 5), 9);
  EXPECT_EQ(axis_extent("2*ho+kh-2", kDims, 5), 15);
  EXPECT_EQ(axis_extent("2*k", kDims, 5), 128);
}

TEST(AxisExtent, RefusesWhatItCannotRead) {
  for (const char* text : {"", "q", "2*", "k+", "k++1", "*B", "k-64", "0", "2x", "-1"}) {
    EXPECT_THROW(axis_extent(text, kDims, 1), HarnessError) << text;
  }
}

TEST(AxisMentions, FindsWholeNamesOnly) {
  EXPECT_TRUE(axis_mentions("k", "k"));
  EXPECT_TRUE(axis_mentions("k*B", "k"));
  EXPECT_TRUE(axis_mentions("2*ho+kh-2", "kh"));
  EXPECT_TRUE(axis_mentions("2*ho+kh-2", "ho"));
  EXPECT_FALSE(axis_mentions("2*ho+kh-2", "h"));
  EXPECT_FALSE(axis_mentions("B", "B"));
  EXPECT_FALSE(axis_mentions("8", "k"));
}

}  // namespace
}  // namespace bic
