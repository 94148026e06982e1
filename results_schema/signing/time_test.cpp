#include "results_schema/signing/time.h"

#include <gtest/gtest.h>

namespace bic::signing {
namespace {

TEST(Time, ReadsWhatItWritesAndEveryFormOfAReport) {
  for (const char* text :
       {"1970-01-01T00:00:00Z", "2026-02-28T23:59:59Z", "2024-02-29T12:00:00Z"}) {
    EXPECT_EQ(time_text(parse_time(text).value()), text);
  }
  EXPECT_EQ(parse_time("1970-01-02T00:00:00.123456789Z"), kDay);
  EXPECT_EQ(parse_time("1970-01-01T02:30:00+02:30"), 0);
  EXPECT_EQ(parse_time("1969-12-31T22:00:00-02:00"), 0);
}

TEST(Time, RefusesOtherTexts) {
  for (const char* text : {"",
                           "now",
                           "2026-02-29T00:00:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01 00:00:00Z",
                           "2026-01-01T00:00:00",
                           "2026-01-01T00:00:00.Z",
                           "2026-01-01T00:00:00+0200",
                           "2026-01-01T00:00:00Zx",
                           "-026-01-01T00:00:00Z"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace bic::signing
