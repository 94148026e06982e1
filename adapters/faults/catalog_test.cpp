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

TEST(FaultCatalog, EveryFaultIsOfAGroupAndEveryGroupHasOne) {
  std::set<std::string_view> filled;
  for (const Fault& f : catalog()) {
    EXPECT_THAT(groups(), testing::Contains(f.group)) << f.name;
    filled.insert(f.group);
  }
  EXPECT_EQ(filled.size(), groups().size());
}

TEST(FaultCatalog, EveryFaultIsLookedForInDtypesOfItsOps) {
  for (const Fault& f : catalog()) {
    EXPECT_FALSE(f.dtypes.empty()) << f.name;
    for (std::string_view op : f.ops) {
      EXPECT_TRUE(std::ranges::any_of(f.dtypes,
                                      [&](DType t) {
                                        return std::ranges::find(find_op(op)->dtypes, t) !=
                                               find_op(op)->dtypes.end();
                                      }))
          << f.name << ": " << op;
    }
  }
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

// What no fault needs, the suite does not need.
TEST(FaultCatalog, EveryRelationOfTheSuiteIsTheOnlyOneNamedByAFault) {
  std::set<std::string_view> needed;
  for (const Fault& f : catalog()) {
    if (f.relations.size() == 1) needed.insert(f.relations.front());
  }
  for (const Relation& r : relations()) EXPECT_TRUE(needed.contains(r.name)) << r.name;
  EXPECT_TRUE(needed.contains(kAccuracyRelation));
}

TEST(FaultCatalog, EveryOpWithAnOrderHasAFault) {
  std::set<std::string_view> touched;
  for (const Fault& f : catalog()) touched.insert(f.ops.begin(), f.ops.end());
  for (const OpSpec& op : registry()) {
    EXPECT_TRUE(op.control != ControlKind::kOrder || touched.contains(op.name)) << op.name;
  }
}

TEST(FaultCatalog, HasFaultsOfManyKinds) {
  EXPECT_GE(catalog().size(), 66u);
  EXPECT_GE(groups().size(), 12u);
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
