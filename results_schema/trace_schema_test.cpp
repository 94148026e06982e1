#include "results_schema/trace_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace bic::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const json kCall = {{"overload", "aten::tanh"},
                    {"inputs", {{{"dtype", "fp32"}, {"shape", {2, 3}}, {"strides", {3, 1}}}}},
                    {"options", json::object()}};
const json kOp = {{"call", kCall}, {"outputs", kCall["inputs"]}};

json head() {
  return {{"trace", 1},
          {"suite_version", "0.1.0"},
          {"backend", "libtorch"},
          {"device", "cpu"},
          {"model", "pi0"},
          {"preset", "tiny"},
          {"dtype", "fp32"}};
}

json trace() {
  json t = head();
  t.update({{"requests", {1, 0}},
            {"position", 1},
            {"only", "*"},
            {"recorded", 1},
            {"differing", 1},
            {"ops", {kOp}}});
  const json difference{{"differing", 1},
                        {"total", 3},
                        {"first_index", 2},
                        {"bits_alone", "0x3f800000"},
                        {"bits_batched", "0x3f800001"},
                        {"ulps", 1},
                        {"only_nan_payloads", false}};
  t["tensors"] = {{{"order", 0},
                   {"section", "embedding"},
                   {"name", "x"},
                   {"invocation", 0},
                   {"dtype", "fp32"},
                   {"shape", {1, 3}},
                   {"op", 0},
                   {"same_shape", true},
                   {"equal", false},
                   {"difference", difference}}};
  t["first_divergence"] = {{"tensor", 0}, {"producer", {{"op", kOp}, {"own", false}}}};
  return t;
}

TEST(TraceSchema, TakesATraceAndAnAudit) {
  EXPECT_EQ(trace_schema_error(trace()), "");
  json audit = head();
  audit["batch"] = 2;
  audit["audit"] = {
      {{"op", kOp}, {"count", 3}, {"own", true}, {"reduces", false}, {"no_case", "why"}}};
  EXPECT_EQ(trace_schema_error(audit), "");
  audit["audit"][0]["case"] = "tanh/fp32:h3 x2";
  EXPECT_NE(trace_schema_error(audit), "") << "a case, and a reason why there is none";
}

TEST(TraceSchema, RefusesNumbersWithAFraction) {
  json t = trace();
  t["tensors"][0]["distance"] = {{"max_abs", "0x1.8p-3"},
                                 {"mean_abs", "0x1p+0"},
                                 {"rmse", "inf"},
                                 {"relative_l2", "nan"},
                                 {"output_abs_max", "0x0p+0"}};
  EXPECT_EQ(trace_schema_error(t), "");
  t["tensors"][0]["distance"]["rmse"] = 0.5;
  EXPECT_NE(trace_schema_error(t), "");
}

TEST(TraceSchema, RefusesWhatIsNoneOfBoth) {
  EXPECT_NE(trace_schema_error(head()), "");
  json t = trace();
  t["tensors"] = json::array();
  EXPECT_NE(trace_schema_error(t), "");
}

}  // namespace
}  // namespace bic::report
