#include "results_schema/vocabulary.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

namespace bic {
namespace {

// Every value of an enum whose first is `first`.
template <typename Enum>
std::vector<Enum> values(std::size_t count, int first = 0) {
  std::vector<Enum> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(static_cast<Enum>(static_cast<int>(i) + first));
  }
  return all;
}

template <typename Enum>
void expect_names(const std::vector<Enum>& all,
                  const std::vector<std::string_view>& names,
                  std::optional<Enum> (*parse)(std::string_view)) {
  ASSERT_EQ(all.size(), names.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(name(all[i]), names[i]);
    EXPECT_EQ(parse(names[i]), all[i]) << names[i];
  }
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  for (const std::string_view wrong : {"", "nothing", "PASS", "fp32 ", "BI-5", "BI-"}) {
    EXPECT_FALSE(parse(wrong)) << wrong;
  }
}

TEST(Vocabulary, EveryDTypeHasItsName) {
  expect_names(values<DType>(kAllDTypes.size()), {"fp32", "bf16", "fp16", "fp64"}, parse_dtype);
}

TEST(Vocabulary, EveryLawHasItsName) {
  expect_names(values<Law>(kLawCount),
               {"normal",
                "uniform",
                "cancel",
                "edge",
                "factors",
                "wide",
                "outlier",
                "linspace",
                "ones",
                "integers",
                "ramp",
                "masks",
                "sweep",
                "special",
                "nan",
                "inf",
                "denormal",
                "huge"},
               parse_law);
  EXPECT_EQ(name(Law::kHuge), "huge");
}

TEST(Vocabulary, EveryFormHasItsName) {
  expect_names(values<Form>(kFormCount),
               {"functional", "out", "inplace", "chunk", "vector", "junk", "stream", "graph"},
               parse_form);
}

TEST(Vocabulary, EveryStatusHasItsName) {
  expect_names(values<Status>(kStatusCount),
               {"error",
                "crash",
                "timeout",
                "blocked",
                "refused",
                "unstable",
                "fail",
                "vacuous",
                "pass",
                "unexpected_pass",
                "waived",
                "unsupported",
                "skipped"},
               parse_status);
  EXPECT_EQ(name(Status::kSkipped), "skipped");
}

TEST(Vocabulary, EveryReasonHasItsName) {
  expect_names(
      values<Reason>(kReasonCount),
      {"bits",          "nan_bits",           "accuracy",     "shape",         "dtype",
       "nan_leak",      "out_of_bounds",      "stale_output", "input_changed", "not_called",
       "controls",      "non_finite",         "witness",      "signal",        "exception",
       "out_of_memory", "no_parallel_region", "filtered",     "budget",        "shard"},
      parse_reason);
  EXPECT_EQ(name(Reason::kShard), "shard");
}

TEST(Vocabulary, EveryLevelHasItsName) {
  expect_names(values<Level>(6, -1), {"none", "BI-0", "BI-1", "BI-2", "BI-3", "BI-4"}, parse_level);
  EXPECT_EQ(name(Level::kPlatform), "BI-4");
}

TEST(Vocabulary, TheRedStatusesAreThoseThatGate) {
  const std::set<Status> red{Status::kCrash,
                             Status::kTimeout,
                             Status::kBlocked,
                             Status::kRefused,
                             Status::kUnstable,
                             Status::kFail,
                             Status::kUnexpectedPass};
  for (const Status status : values<Status>(kStatusCount)) {
    EXPECT_EQ(is_red(status), red.contains(status)) << name(status);
  }
}

TEST(Seed, IsSixteenHexDigits) {
  EXPECT_EQ(to_string(Seed{0}), "0000000000000000");
  EXPECT_EQ(to_string(Seed{0x9f3c51d20b7e4a11}), "9f3c51d20b7e4a11");
  EXPECT_EQ(to_string(Seed{~std::uint64_t{0}}), "ffffffffffffffff");
}

TEST(Seed, IsReadWithFewerDigitsAndAPrefix) {
  EXPECT_EQ(parse_seed("7"), Seed{7});
  EXPECT_EQ(parse_seed("0x7f"), Seed{0x7f});
  EXPECT_EQ(parse_seed("9f3c51d20b7e4a11"), Seed{0x9f3c51d20b7e4a11});
  for (const std::string_view wrong :
       {"", "0x", "g", "-1", "+1", " 1", "1 ", "12345678901234567"}) {
    EXPECT_FALSE(parse_seed(wrong)) << wrong;
  }
}

// Committed values: with others, every case string in every report would mean other inputs. Checked
// against an independent implementation of splitmix64 and FNV-1a.
TEST(Derive, KeepsItsValues) {
  EXPECT_EQ(to_string(derive(Seed{0}, std::uint64_t{0})), "48218226ff3cd4bf");
  EXPECT_EQ(to_string(derive(Seed{1}, std::uint64_t{2})), "081a5c1377856b73");
  EXPECT_EQ(to_string(derive(Seed{0}, "")), "7477a126ac98496e");
  EXPECT_EQ(to_string(derive(Seed{0x9f3c51d20b7e4a11}, "mm/bf16/cancel")), "702dfe14dd06d266");
}

TEST(Derive, GivesNoSeedTwice) {
  std::set<Seed> seen;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (std::uint64_t number = 0; number < 300; ++number) seen.insert(derive(Seed{seed}, number));
    for (char c = 'a'; c <= 'z'; ++c) seen.insert(derive(Seed{seed}, std::string(1, c)));
  }
  EXPECT_EQ(seen.size(), 300u * (300 + 26));
}

TEST(Derive, FlipsHalfOfTheBitsForOneBitOfTheNumber) {
  int flipped = 0;
  constexpr int kTrials = 64 * 64;
  for (std::uint64_t number = 0; number < 64; ++number) {
    const std::uint64_t whole = derive(Seed{7}, number).value;
    for (int bit = 0; bit < 64; ++bit) {
      const std::uint64_t other = derive(Seed{7}, number ^ (std::uint64_t{1} << bit)).value;
      flipped += std::popcount(whole ^ other);
    }
  }
  // Mean 32, standard deviation of the mean 4 / sqrt(4096) = 0.0625; five of them.
  EXPECT_NEAR(static_cast<double>(flipped) / kTrials, 32.0, 0.32);
}

}  // namespace
}  // namespace bic
