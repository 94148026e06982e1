#include "adapters/libtorch_invariant/registration.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "adapters/libtorch/evaluator.h"
#include "adapters/libtorch_invariant/dispatch_rows.h"
#include "adapters/libtorch_invariant/ops.h"

namespace bic::libtorch_invariant {
namespace {

namespace ours = ::bic::libtorch_invariant;  // at:: has functions of the same names

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAreArray;

std::string table(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).dumpComputedTable();
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor c = a.contiguous(), d = b.contiguous();
  return c.scalar_type() == d.scalar_type() && c.sizes() == d.sizes() &&
         std::memcmp(c.const_data_ptr(), d.const_data_ptr(), c.nbytes()) == 0;
}

/// Operands whose products show which kernel summed them.
at::Tensor left() {
  at::manual_seed(1);
  return at::randn({5, 1000});
}
at::Tensor right() {
  at::manual_seed(2);
  return at::randn({1000, 16});
}

TEST(Registration, RestoresStockWhenItDies) {
  const std::string linear = table("aten::linear", ""), mm = table("aten::mm", "");
  const at::Tensor stock = at::mm(left(), right());
  ASSERT_FALSE(same_bytes(stock, ours::mm(left(), right())))
      << "these inputs cannot tell them apart";
  {
    const Registration registration;
    EXPECT_NE(table("aten::linear", ""), linear);
    EXPECT_NE(table("aten::mm", ""), mm);
    EXPECT_TRUE(same_bytes(at::mm(left(), right()), ours::mm(left(), right())));
  }
  EXPECT_EQ(table("aten::linear", ""), linear);
  EXPECT_EQ(table("aten::mm", ""), mm);
  EXPECT_TRUE(same_bytes(at::mm(left(), right()), stock));
}

TEST(Registration, ReportsEveryOverloadItTook) {
  std::vector<std::string> known;
  for (const auto& [overload, row] : dispatch_rows("CPU")) known.push_back(overload);
  std::erase(known, "aten::cudnn_batch_norm");  // of CUDA alone
  const Registration registration;
  EXPECT_THAT(registration.changed(), UnorderedElementsAreArray(known));
  EXPECT_THAT(registration.changed(), IsSupersetOf({"aten::mm", "aten::mm.out", "aten::gelu_"}));
}

TEST(Registration, ManifestOwnsWhatChangedAndNothingElse) {
  for (const protocol::ManifestEntry& entry : manifest({})) {
    EXPECT_THAT(entry.own, IsEmpty()) << entry.op;
    EXPECT_NE(entry.stock_reason, "") << entry.op;
  }
  const Registration registration;
  const auto entries = manifest(registration.changed());
  ASSERT_GE(entries.size(), 7u);
  for (const protocol::ManifestEntry& entry : entries) {
    EXPECT_FALSE(entry.own.empty()) << entry.op;
    EXPECT_EQ(entry.stock_reason, "") << entry.op;
    EXPECT_EQ(entry.arithmetic.size(), 4u) << entry.op;
  }
  EXPECT_THAT(entries[0].own, ElementsAre("aten::mm", "aten::mm.out"));
}

TEST(Registration, PrintsNoWarning) {
  testing::internal::CaptureStderr();
  { const Registration registration; }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// A call text and what our own function, called without the dispatcher, makes of the same tensors.
struct Reach {
  const char* text;
  at::Tensor (*direct)(libtorch::NamedTensors&);
};

class BoxedCall : public testing::TestWithParam<Reach> {};

TEST_P(BoxedCall, ReachesTheOverride) {
  libtorch::NamedTensors t{{"x", left()},
                           {"w", right()},
                           {"v", right().t().contiguous()},
                           {"r", left().view({5, 10, 100})}};
  const libtorch::Evaluator evaluator(GetParam().text, {"x", "w", "v", "r"}, {}, {});
  const at::Tensor stock = evaluator.run(t, "y");
  const Registration registration;
  const at::Tensor ours = evaluator.run(t, "y");
  EXPECT_TRUE(same_bytes(ours, GetParam().direct(t)));
  EXPECT_FALSE(same_bytes(ours, stock)) << "these inputs cannot tell them apart";
}

using Tensors = libtorch::NamedTensors;
INSTANTIATE_TEST_SUITE_P(
    Ops,
    BoxedCall,
    testing::Values(
        Reach{"y = aten::mm(x, w)", [](Tensors& t) { return ours::mm(t["x"], t["w"]); }},
        Reach{"y = aten::linear(x, v)",
              [](Tensors& t) { return ours::linear(t["x"], t["v"], std::nullopt); }},
        Reach{"y = aten::matmul(x, w)", [](Tensors& t) { return ours::mm(t["x"], t["w"]); }},
        Reach{"y = aten::sum.dim_IntList(x, [1])",
              [](Tensors& t) { return ours::sum_dim(t["x"], at::IntArrayRef{1}, false, {}); }},
        Reach{"y = aten::sum(x)", [](Tensors& t) { return ours::sum(t["x"], {}); }},
        Reach{"y = aten::mean.dim(x, [1])",
              [](Tensors& t) { return ours::mean_dim(t["x"], at::IntArrayRef{1}, false, {}); }},
        Reach{
            "y = aten::var.dim(x, [1])",
            [](Tensors& t) { return ours::var_correction(t["x"], at::IntArrayRef{1}, {}, false); }},
        Reach{
            "y = aten::norm.ScalarOpt_dim(x, 2, [1])",
            [](Tensors& t) { return ours::vector_norm(t["x"], 2, at::IntArrayRef{1}, false, {}); }},
        Reach{"y = aten::softmax.int(x, -1)",
              [](Tensors& t) { return ours::softmax(t["x"], -1, false); }},
        Reach{"y = aten::log_softmax.int(x, -1)",
              [](Tensors& t) { return ours::log_softmax(t["x"], -1, false); }},
        Reach{"y = aten::logsumexp(x, [1])",
              [](Tensors& t) { return ours::logsumexp(t["x"], {1}, false); }},
        Reach{"y = aten::rms_norm(x, [1000])",
              [](Tensors& t) { return ours::rms_norm(t["x"], {1000}, {}, {}); }},
        Reach{"y = aten::layer_norm(x, [1000])",
              [](Tensors& t) {
                return std::get<0>(ours::native_layer_norm(t["x"], {1000}, {}, {}, 1e-5));
              }},
        Reach{"y = aten::gelu(x)", [](Tensors& t) { return ours::gelu(t["x"], "none"); }}));

}  // namespace
}  // namespace bic::libtorch_invariant
