#include "results_schema/signing/profiles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "suites/ops/op_spec.h"

namespace bic::signing {
namespace {

bool is_model(const Profile& profile) { return !profile.model.empty(); }

TEST(Profiles, HoldEachOpOfTheSuiteInOneFamily) {
  for (const OpSpec& op : registry()) {
    const auto has = [&](const Profile& p) {
      return !is_model(p) && std::ranges::find(p.ops, op.name) != p.ops.end();
    };
    EXPECT_EQ(std::ranges::count_if(profiles(), has), 1) << op.name;
  }
}

TEST(Profiles, NameOpsOfTheSuiteOnly) {
  for (const Profile& profile : profiles()) {
    for (const std::string_view op : profile.ops) EXPECT_NE(find_op(op), nullptr) << op;
  }
}

}  // namespace
}  // namespace bic::signing
