// A law that is listed to prove bits can do so: in each op and dtype its draws are told apart.
#include <gtest/gtest.h>

#include "harness/plan/plan.h"
#include "harness/plan/telling.h"

namespace bic {
namespace {

struct Listed {
  const OpSpec* op;
  DType dtype;
  Law law;
};

void PrintTo(const Listed& l, std::ostream* out) {
  *out << l.op->name << ' ' << name(l.dtype) << ' ' << name(l.law);
}

/// In 16 bits the plain laws seldom show an order; their problems are then drawn again, at last
/// under the strongest one, so that this one must always show.
bool may_fail(const OpSpec& op, DType dtype, Law law) {
  return size_of(dtype) == 2 && law != op.laws[0];
}

std::vector<Listed> listed_laws() {
  std::vector<Listed> all;
  for (const OpSpec& op : registry()) {
    if (op.control != ControlKind::kOrder && op.control != ControlKind::kTail) continue;
    for (DType dtype : op.dtypes) {
      for (Law law : op.laws) {
        if (!may_fail(op, dtype, law)) all.push_back({&op, dtype, law});
      }
    }
  }
  return all;
}

class ProvingLaw : public testing::TestWithParam<Listed> {};

TEST_P(ProvingLaw, IsToldApartInMostOfItsDraws) {
  const auto& [op, dtype, law] = GetParam();
  constexpr int kDraws = 3;
  int told_apart = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Variant& variant = op->variants[static_cast<std::size_t>(i) % op->variants.size()];
    ProblemPlan plan{op, &variant, dtype, law, i, false};
    plan.most_elements = 2048;  // as in the quick plan
    const Problem problem = draw(plan, Seed{0xb1c0}, {}, 0);
    told_apart += find_telling(Inputs(problem)).told_apart;
  }
  EXPECT_GE(told_apart, 2);
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         ProvingLaw,
                         testing::ValuesIn(listed_laws()),
                         [](const auto& info) {
                           return info.param.op->name + "_" + std::string(name(info.param.dtype)) +
                                  "_" + std::string(name(info.param.law));
                         });

}  // namespace
}  // namespace bic
