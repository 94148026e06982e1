#include "harness/trace/traced_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results_schema/error.h"
#include "results_schema/shape.h"
#include "results_schema/vocabulary.h"

namespace bic {
namespace {

using nlohmann::json;
using protocol::SharedMemory;

std::size_t element_bytes(const std::string& dtype) {
  if (const auto known = parse_dtype(dtype)) return static_cast<std::size_t>(size_of(*known));
  if (dtype == "int64") return 8;
  if (dtype == "bool") return 1;
  throw HarnessError(fmt::format("trace: the worker recorded a tensor of dtype '{}'", dtype));
}

TracedTensor tensor_of(const json& j, std::span<const std::byte> room, std::size_t ops) {
  TracedTensor t{j.at("order"),
                 j.at("section"),
                 j.at("name"),
                 j.at("invocation"),
                 j.at("dtype"),
                 j.at("shape"),
                 {},
                 j.at("op")};
  const auto bytes = static_cast<std::size_t>(element_count(t.shape)) * element_bytes(t.dtype);
  const std::size_t offset = j.at("offset");
  const bool has_op = t.op >= -1 && t.op < static_cast<int>(ops);
  if (offset > room.size() || bytes > room.size() - offset || !has_op) {
    throw HarnessError(fmt::format("trace: the worker says nonsense of '{}'", t.name));
  }
  t.bytes = room.subspan(offset, bytes);
  return t;
}

OpDigest digest_of(const json& j) {
  OpDigest op{j.at(0), {}};
  for (const json& output : j.at(1)) {
    OutputDigest digest{output.at(0), {}};
    for (const json& axis : output.at(1)) digest.by_axis[axis.at(0)] = axis.at(1);
    op.outputs.push_back(std::move(digest));
  }
  return op;
}

/// The worker is at fault where the form of its answer is wrong.
template <class Read>
auto reading(const json& answer, Read read) try {
  return read(answer);
} catch (const json::exception& e) {
  throw HarnessError(fmt::format("trace: the worker's answer is malformed: {}", e.what()));
}

}  // namespace

OwnOverloads own_overloads(const protocol::Hello& hello) {
  OwnOverloads own;
  for (const protocol::ManifestEntry& e : hello.manifest) own.insert(e.own.begin(), e.own.end());
  return own;
}

AskStudy ask_of(Worker& worker, const std::string& study) {
  const auto& known = worker.hello().studies;
  if (std::ranges::find(known, study) == known.end()) {
    throw UsageError(
        fmt::format("--backend: '{}' runs no whole models, so there is nothing to {}; take "
                    "libtorch, libtorch-invariant, libtorch:PATH.so or a lifted plug-in",
                    worker.hello().backend,
                    study == "perf" ? "time" : "trace"));
  }
  return [&worker](const std::string& name, const json& request, const SharedMemory& room) {
    auto answer = worker.study(name, request, room);
    if (const auto* death = std::get_if<Death>(&answer)) {
      throw UsageError(fmt::format("study {}: the worker died: {}", name, death->message));
    }
    return std::get<json>(std::move(answer));
  };
}

void to_json(json& j, const ModelChoice& choice) {
  j = {{"model", choice.model}, {"preset", choice.preset}, {"dtype", choice.dtype}};
  if (!choice.weights.empty()) j["weights"] = choice.weights;
  if (!choice.order.empty()) j["order"] = choice.order;
  if (choice.in_double) j["in_double"] = true;
}

std::vector<std::int64_t> SamplePlan::requests() const {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t after = i < position ? i + 1 : i;
    ids.push_back(i == position ? sample : sample + after);
  }
  return ids;
}

json TracedModel::request(const SamplePlan& plan) const {
  json request = choice_;
  request["requests"] = plan.requests();
  request["position"] = plan.position;
  return request;
}

TracedRun TracedModel::trace(const SamplePlan& plan, const std::string& only) const {
  json asked = request(plan);
  asked["only"] = only;
  return traced(asked);
}

TracedRun TracedModel::whole(std::int64_t batch, std::int64_t threads) const {
  json asked = request({.batch = batch});
  asked.update({{"only", "*"}, {"whole", true}, {"threads", threads}});
  return traced(asked);
}

TracedRun TracedModel::traced(const json& asked) const {
  TracedRun run;
  run.room = SharedMemory::create(static_cast<std::size_t>(room_));
  return reading(ask_("trace", asked, run.room), [&](const json& answer) {
    answer.at("ops").get_to(run.ops);
    answer.at("recorded").get_to(run.recorded);
    for (const json& t : answer.at("tensors")) {
      run.tensors.push_back(tensor_of(t, run.room.bytes(), run.ops.size()));
    }
    return std::move(run);
  });
}

std::vector<OpDigest> TracedModel::ops_before(const SamplePlan& plan, std::int64_t order) const {
  json asked = request(plan);
  asked["until"] = order + 1;
  const SharedMemory none = SharedMemory::create(1);
  return reading(ask_("trace_ops", asked, none), [](const json& answer) {
    std::vector<OpDigest> ops;
    for (const json& op : answer.at("ops")) ops.push_back(digest_of(op));
    return ops;
  });
}

OpBlock TracedModel::op(const SamplePlan& plan,
                        std::size_t number,
                        const OutputBlock& block) const {
  json asked = request(plan);
  asked["op"] = number;
  asked["output"] = block.output;
  asked["axis"] = block.axis;
  const SharedMemory room = SharedMemory::create(static_cast<std::size_t>(room_));
  return reading(ask_("trace_ops", asked, room), [&](const json& answer) {
    OpBlock found{answer.at("op").get<OpSight>(), {}};
    const TensorSight& t = found.op.outputs.at(static_cast<std::size_t>(block.output));
    const auto elements = element_count(t.shape) / plan.batch;
    const auto bytes = static_cast<std::size_t>(elements) * element_bytes(t.dtype);
    const auto all = room.bytes();
    if (bytes > all.size()) throw HarnessError("trace: an op's block is larger than the room");
    found.bytes.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(bytes));
    return found;
  });
}

}  // namespace bic
