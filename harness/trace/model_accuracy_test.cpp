#include "harness/trace/model_accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "results_schema/error.h"

namespace bic {
namespace {

using testing::HasSubstr;

struct Named {
  const char* name;
  std::vector<double> values;
};

/// One evaluation: its tensors in fp32 or fp64.
TracedRun run_of(const std::string& dtype, const std::vector<Named>& tensors) {
  TracedRun run;
  run.room = protocol::SharedMemory::create(4096);
  std::size_t used = 0;
  for (const Named& t : tensors) {
    const auto bytes = run.room.bytes().subspan(used);
    std::size_t size = 0;
    for (const double v : t.values) {
      const auto narrow = static_cast<float>(v);
      const std::size_t one = dtype == "fp64" ? sizeof v : sizeof narrow;
      std::memcpy(
          bytes.data() + size, dtype == "fp64" ? static_cast<const void*>(&v) : &narrow, one);
      size += one;
    }
    run.tensors.push_back({.section = "prefill",
                           .name = t.name,
                           .dtype = dtype,
                           .shape = {static_cast<std::int64_t>(t.values.size())},
                           .bytes = bytes.first(size)});
    used += size;
  }
  return run;
}

/// Exact values 1 and 2, of which stock makes errors 2^-20 and 0; and an action of 0, off by 2^-30.
class JudgeTensors : public testing::Test {
 protected:
  JudgeTensors() {
    stock_.push_back({run_of("fp32", {{"x", {1 + 0x1p-20, 2}}, {"a.updated_action", {0x1p-30}}}),
                      run_of("fp64", {{"x", {1, 2}}, {"a.updated_action", {0}}})});
  }

  report::ModelAccuracy judge(std::vector<double> x, double action = 0) {
    return judge_tensors(
        model_, run_of("fp32", {{"x", std::move(x)}, {"a.updated_action", {action}}}), stock_);
  }

  DType model_ = DType::kFloat32;
  std::vector<StockRun> stock_;
};

TEST_F(JudgeTensors, AllowsTwiceStocksErrorAndOneRounding) {
  EXPECT_EQ(judge({1, 2 + 0x1p-19}).beyond, 0);
  EXPECT_EQ(judge({1, 2 + 0x1p-19}).tensors, 2);
  EXPECT_EQ(judge({1, 2 + 0x1p-19 + 0x1p-22}).beyond, 1);
  EXPECT_EQ(judge({1 - 0x1p-18, 2}).beyond, 1);
}

TEST_F(JudgeTensors, SeesAnErrorInTheMiddleOfWhichTheActionKnowsNothing) {
  const auto accuracy = judge({1 + 0x1p-10, 2}, 0);
  EXPECT_EQ(accuracy.beyond, 1);
  EXPECT_EQ(accuracy.worst.name, "x");
  EXPECT_EQ(accuracy.worst.error, "0x1p-10");
  EXPECT_GT(accuracy.worst.share_ppm, 1'000'000);
  EXPECT_THAT(
      text_of(accuracy),
      HasSubstr("1 of 2 tensors beyond the bound, most of all prefill: x: off by 0.000977"));
}

TEST_F(JudgeTensors, TakesTheLargestErrorOfStocksOrders) {
  stock_.push_back({run_of("fp32", {{"x", {1, 2 + 0x1p-10}}, {"a.updated_action", {0}}}),
                    run_of("fp64", {{"x", {1, 2}}, {"a.updated_action", {0}}})});
  EXPECT_EQ(judge({1 + 0x1p-10, 2}).beyond, 0);
}

TEST_F(JudgeTensors, AllowsTheActionInFp32NoMoreThanAMillionth) {
  stock_[0].rounded = run_of("fp32", {{"x", {1 + 0x1p-20, 2}}, {"a.updated_action", {0x1p-10}}});
  EXPECT_EQ(judge({1, 2}, 0.9e-6).beyond, 0);
  const auto accuracy = judge({1, 2}, 1.1e-6);
  EXPECT_EQ(accuracy.beyond, 1);
  EXPECT_EQ(accuracy.worst.name, "a.updated_action");
  model_ = DType::kBFloat16;
  EXPECT_EQ(judge({1, 2}, 1.1e-6).beyond, 0) << "in mixed precision its action is in fp32 too";
}

TEST_F(JudgeTensors, TakesNoNumberForTheLargestError) {
  for (const double wrong : {std::nan(""), HUGE_VAL}) {
    const auto accuracy = judge({wrong, 2});
    EXPECT_EQ(accuracy.beyond, 1);
    EXPECT_EQ(accuracy.worst.error, "inf");
  }
}

TEST_F(JudgeTensors, WantsHiddenWhatAMaskHides) {
  stock_[0] = {run_of("fp32", {{"x", {-3e38, 2}}, {"a.updated_action", {0}}}),
               run_of("fp64", {{"x", {-1.7e308, 2}}, {"a.updated_action", {0}}})};
  EXPECT_EQ(judge({-2e38, 2}).beyond, 0);
  EXPECT_EQ(judge({2e38, 2}).beyond, 1);
  EXPECT_EQ(judge({-50, 2}).beyond, 1);
  EXPECT_EQ(judge({-3e38, 2 + 0x1p-20}).beyond, 1) << "what it hides makes no error of stock's";
}

TEST_F(JudgeTensors, RefusesRunsOfOtherTensors) {
  EXPECT_THROW(
      judge_tensors(model_, run_of("fp32", {{"y", {1, 2}}, {"a.updated_action", {0}}}), stock_),
      HarnessError);
  EXPECT_THROW(judge_tensors(model_, run_of("fp32", {{"x", {1, 2}}}), stock_), HarnessError);
  EXPECT_EQ(judge({1}).beyond, 1) << "of another shape";
}

TEST_F(JudgeTensors, WantsTheDtypesOfTheModel) {
  const auto in_double = run_of("fp64", {{"x", {1, 2}}, {"a.updated_action", {0}}});
  EXPECT_EQ(judge_tensors(model_, in_double, stock_).beyond, 2);
  TracedRun counted = run_of("fp32", {{"x", {1, 2}}, {"a.updated_action", {0}}});
  counted.tensors[0].dtype = "int64";
  EXPECT_EQ(judge_tensors(model_, counted, stock_).beyond, 1) << "no number of the model's kind";
}

TEST_F(JudgeTensors, RefusesToJudgeNothing) {
  EXPECT_THROW(judge_tensors(model_, {}, std::vector<StockRun>(1)), HarnessError);
}

}  // namespace
}  // namespace bic
