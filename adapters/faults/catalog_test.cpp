#include "adapters/faults/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "suites/ops/op_spec.h"
#include "suites/relations/relation.h"

namespace bic::faults {
namespace {

bool is_token(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

TEST(FaultCatalog, NamesAreUniqueTokens) {
  std::set<std::string_view> seen;
  for (const Fault& f : catalog()) {
    EXPECT_TRUE(is_token(f.name)) << f.name;
    EXPECT_TRUE(seen.insert(f.name).second) << f.name;
  }
  EXPECT_THAT(seen, testing::Not(testing::IsEmpty()));
}

TEST(FaultCatalog, EveryFaultTouchesOpsOfTheSuite) {
  for (const Fault& f : catalog()) {
    EXPECT_FALSE(f.ops.empty()) << f.name;
    for (std::string_view op : f.ops) EXPECT_NE(find_op(op), nullptr) << f.name << ": " << op;
  }
}

TEST(FaultCatalog, EveryFaultIsSeenByRelationsOfTheSuite) {
  for (const Fault& f : catalog()) {
    EXPECT_FALSE(f.relations.empty()) << f.name;
    for (std::string_view r : f.relations) {
      EXPECT_TRUE(r == kAccuracyRelation || find_relation(r) != nullptr) << f.name << ": " << r;
    }
  }
}

TEST(FaultCatalog, EveryRelationOfTheSuiteHasAFaultThatItSees) {
  std::set<std::string_view> seen;
  for (const Fault& f : catalog()) seen.insert(f.relations.begin(), f.relations.end());
  for (const Relation& r : relations()) EXPECT_TRUE(seen.contains(r.name)) << r.name;
  EXPECT_TRUE(seen.contains(kAccuracyRelation));
}

TEST(FaultCatalog, EveryFaultIsRedAndSaysWhy) {
  for (const Fault& f : catalog()) {
    EXPECT_TRUE(is_red(f.status)) << f.name;
    EXPECT_FALSE(f.sentence.empty()) << f.name;
    const bool says_all = f.status == Status::kRefused || f.status == Status::kTimeout;
    EXPECT_EQ(f.reason.has_value(), !says_all) << f.name;
  }
}

TEST(FaultCatalog, FindsByNameAndKnowsNoOther) {
  for (const Fault& f : catalog()) EXPECT_EQ(find(f.name), &f);
  EXPECT_EQ(find("no-such-fault"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

}  // namespace
}  // namespace bic::faults
