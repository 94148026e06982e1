#include <gtest/gtest.h>

#include <stdexcept>

#include "adapters/faults/catalog.h"
#include "adapters/libtorch/interposer.h"

namespace bic::faults {
namespace {

/// A call of `op` in bf16 through the fault; the honest call behind it only counts.
int honest_calls(std::string_view fault, const std::string& op) {
  protocol::ProblemMessage problem;
  problem.op = op;
  problem.dtype = DType::kBFloat16;
  const protocol::TrialMessage trial;
  const libtorch::NamedTensors tensors;
  int calls = 0;
  const libtorch::HonestCall honest = [&](const libtorch::NamedTensors&) {
    ++calls;
    return at::Tensor();
  };
  libtorch::make_fault(fault)->call({problem, trial, tensors, honest});
  return calls;
}

TEST(MakeFault, BuildsEveryFaultOfTheCatalog) {
  for (const Fault& f : catalog()) EXPECT_NE(libtorch::make_fault(f.name), nullptr) << f.name;
}

TEST(MakeFault, KnowsNoOther) {
  EXPECT_EQ(libtorch::make_fault("no-such-fault"), nullptr);
  EXPECT_EQ(libtorch::make_fault(""), nullptr);
  EXPECT_EQ(libtorch::make_fault("fault:noisy"), nullptr);
}

TEST(MakeFault, LeavesOpsAloneThatTheCatalogDoesNotName) {
  EXPECT_EQ(honest_calls("refuses", "softmax"), 1);
  EXPECT_THROW(honest_calls("refuses", "mm"), std::runtime_error);
}

}  // namespace
}  // namespace bic::faults
