#include <gtest/gtest.h>

#include "adapters/faults/catalog.h"
#include "adapters/libtorch/interposer.h"

namespace bic::faults {
namespace {

TEST(MakeFault, BuildsEveryFaultOfTheCatalog) {
  for (const Fault& f : catalog()) EXPECT_NE(libtorch::make_fault(f.name), nullptr) << f.name;
}

TEST(MakeFault, KnowsNoOther) {
  EXPECT_EQ(libtorch::make_fault("no-such-fault"), nullptr);
  EXPECT_EQ(libtorch::make_fault(""), nullptr);
  EXPECT_EQ(libtorch::make_fault("fault:noisy"), nullptr);
}

}  // namespace
}  // namespace bic::faults
