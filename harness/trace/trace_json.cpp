#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/trace/trace_report.h"
#include "harness/workers/environment.h"
#include "results_schema/trace_schema.h"

namespace bic {
namespace {

using nlohmann::json;

std::string hex(double x) { return fmt::format("{:a}", x); }

json json_of(const Distance& d) {
  return {{"max_abs", hex(d.max_abs)},
          {"mean_abs", hex(d.mean_abs)},
          {"rmse", hex(d.rmse)},
          {"relative_l2", hex(d.relative_l2)},
          {"output_abs_max", hex(d.output_abs_max)}};
}

json json_of(const Difference& d) {
  json j{{"differing", d.differing},
         {"total", d.total},
         {"first_index", d.first},
         {"bits_alone", d.bits_b},
         {"bits_batched", d.bits_a},
         {"only_nan_payloads", d.only_nan_payloads}};
  if (d.ulps) j["ulps"] = *d.ulps;
  return j;
}

json json_of(const TensorPair& pair, const TraceResult& result) {
  const TracedTensor& t = result.batched.tensors[pair.batched];
  json j{{"order", t.order},
         {"section", t.section},
         {"name", t.name},
         {"invocation", t.invocation},
         {"dtype", t.dtype},
         {"shape", t.shape},
         {"op", t.op},
         {"same_shape", pair.same_shape},
         {"equal", pair.equal}};
  if (pair.difference) j["difference"] = json_of(*pair.difference);
  if (pair.distance) j["distance"] = json_of(*pair.distance);
  return j;
}

json json_of(const GuiltyOp& g) {
  json j{{"alone", g.alone},
         {"batched", g.batched},
         {"own", g.own},
         {"output", g.block.output},
         {"axis", g.block.axis},
         {"only_alone", g.only_alone},
         {"only_batched", g.only_batched}};
  if (g.difference) j["difference"] = json_of(*g.difference);
  if (!g.case_string.empty()) j["case"] = g.case_string;
  if (!g.no_case.empty()) j["no_case"] = g.no_case;
  return j;
}

json json_of(const Divergence& d) {
  json j{{"tensor", d.pair}};
  if (d.producer) j["producer"] = {{"op", *d.producer}, {"own", d.producer_own}};
  if (d.guilty) j["op"] = json_of(*d.guilty);
  return j;
}

}  // namespace

json head_json(const TraceSubject& subject) {
  json j = subject.choice;
  j.update({{"trace", report::kTraceVersion},
            {"suite_version", suite_version()},
            {"backend", subject.backend},
            {"device", subject.device}});
  if (subject.weights) j["weights"] = *subject.weights;
  return j;
}

json trace_json(const TraceSubject& subject, const TraceResult& result) {
  json tensors = json::array();
  for (const TensorPair& pair : result.pairs) tensors.push_back(json_of(pair, result));
  json j = head_json(subject);
  j.update({{"requests", result.plan.requests()},
            {"position", result.plan.position},
            {"only", subject.only},
            {"recorded", result.batched.recorded},
            {"differing", result.differing()},
            {"ops", result.batched.ops},
            {"tensors", std::move(tensors)}});
  if (result.first) j["first_divergence"] = json_of(*result.first);
  return j;
}

}  // namespace bic
