#include "adapters/libtorch/trace_study.h"

#include <ATen/record_function.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "adapters/libtorch/device.h"
#include "adapters/libtorch/model_run.h"
#include "adapters/libtorch/op_watch.h"
#include "adapters/libtorch/placed.h"
#include "adapters/protocol/digest.h"
#include "adapters/protocol/gather.h"
#include "results_schema/error.h"
#include "results_schema/shape.h"

namespace bic::libtorch {
namespace {

using nlohmann::json;
using Shape = std::vector<std::int64_t>;

/// The part of an axis that belongs to one sample of a batch.
struct Block {
  std::int64_t batch;
  std::int64_t position;
  std::int64_t axis;

  Shape shape(const at::Tensor& t) const {
    Shape shape = t.sizes().vec();
    shape[axis] /= batch;
    return shape;
  }
  std::size_t bytes(const at::Tensor& t) const {
    return static_cast<std::size_t>(element_count(shape(t)) * t.element_size());
  }
  /// Row-major. Calls no op that anybody sees.
  void copy(const at::Tensor& t, std::byte* to) const {
    const at::DisableRecordFunctionGuard unseen;
    const std::int64_t rows = t.size(axis) / batch;
    const at::Tensor mine = on_host(t.narrow(axis, position * rows, rows));
    protocol::copy_out(mine.sizes(),
                       mine.strides(),
                       mine.element_size(),
                       static_cast<const std::byte*>(mine.const_data_ptr()),
                       to);
  }
};

/// Where and how to look, of every request.
struct Sample {
  explicit Sample(const json& request)
      : whole(request.value("whole", false)),
        batch(whole ? 1 : static_cast<std::int64_t>(request.at("requests").size())),
        position(whole ? 0 : request.at("position").get<std::int64_t>()) {
    if (position < 0 || position >= batch) throw HarnessError("trace: position outside the batch");
  }
  bool whole;  ///< all samples of the batch as if they were one
  std::int64_t batch, position;
};

/// The room as it fills.
class Room {
 public:
  explicit Room(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::byte* take(std::size_t bytes) {
    constexpr std::size_t kAlignment = 8;
    const std::size_t first = (used_ + kAlignment - 1) / kAlignment * kAlignment;
    if (first + bytes > bytes_.size()) {
      throw UsageError(
          fmt::format("the traced tensors need more than {} bytes; raise --room or name fewer with "
                      "--only",
                      bytes_.size()));
    }
    used_ = first + bytes;
    return bytes_.data() + first;
  }
  std::int64_t offset(const std::byte* at) const { return at - bytes_.data(); }

 private:
  std::span<std::byte> bytes_;
  std::size_t used_ = 0;
};

/// Copies what it is shown, and asks who wrote it.
class BlockTrace final : public pi0::Trace {
 public:
  BlockTrace(Sample sample, std::string only, Room room, const Producers& producers)
      : sample_(sample), only_(std::move(only)), room_(room), producers_(producers) {}

  void section(std::string_view name) override { section_ = name; }

  void record(std::string_view name, const at::Tensor& t) override {
    const std::int64_t order = recorded_++;
    std::string text(name);
    const int invocation = invocations_[section_ + ' ' + text]++;
    if (fnmatch(only_.c_str(), text.c_str(), 0) != 0) return;
    if (t.dim() == 0 || (!sample_.whole && t.size(0) != sample_.batch)) {
      throw HarnessError(fmt::format("trace: '{}' has no batch axis in front", text));
    }
    const Block block{sample_.batch, sample_.position, 0};
    std::byte* to = room_.take(block.bytes(t));
    block.copy(t, to);
    tensors_.push_back({{"order", order},
                        {"section", section_},
                        {"name", text},
                        {"invocation", invocation},
                        {"dtype", dtype_name(t.scalar_type())},
                        {"shape", block.shape(t)},
                        {"offset", room_.offset(to)},
                        {"op", number_of(producers_.of(t))}});
  }

  json answer() && {
    return {{"recorded", recorded_}, {"tensors", std::move(tensors_)}, {"ops", std::move(ops_)}};
  }

 private:
  /// In `ops`, where it is put at the first time; -1 for none.
  std::int64_t number_of(const std::shared_ptr<const OpNote>& op) {
    if (op == nullptr) return -1;
    const auto [at, added] = numbers_.try_emplace(op, static_cast<std::int64_t>(ops_.size()));
    if (added) ops_.push_back(*op);
    return at->second;
  }

  Sample sample_;
  std::string only_;
  Room room_;
  const Producers& producers_;
  std::string section_;
  std::map<std::string, int> invocations_;
  std::int64_t recorded_ = 0;
  std::map<std::shared_ptr<const OpNote>, std::int64_t> numbers_;
  json tensors_ = json::array();
  json ops_ = json::array();
};

/// Counts, so that it is known which ops came before a tensor.
class CountingTrace final : public pi0::Trace {
 public:
  void section(std::string_view) override {}
  void record(std::string_view, const at::Tensor&) override { ++recorded_; }
  std::int64_t recorded() const { return recorded_; }

 private:
  std::int64_t recorded_ = 0;
};

json digests(const Sample& sample, const at::Tensor& t) {
  json all = json::array();
  std::vector<std::byte> bytes;
  for (std::int64_t axis = 0; axis < t.dim(); ++axis) {
    if (t.size(axis) % sample.batch != 0 || t.size(axis) == 0) continue;
    const Block block{sample.batch, sample.position, axis};
    bytes.resize(block.bytes(t));
    block.copy(t, bytes.data());
    all.push_back({axis, protocol::digest(bytes, 0)});
  }
  return all;
}

/// Each op of a pass in short.
class OpDigests {
 public:
  OpDigests(Sample sample, const CountingTrace& trace, std::int64_t until)
      : sample_(sample), trace_(trace), until_(until) {}

  void see(const OpSight& op) {
    if (trace_.recorded() >= until_) return;
    json outputs = json::array();
    for (const at::Tensor& t : op.outputs) {
      const bool means = !allocates(*op.call) && t.layout() == at::kStrided;
      outputs.push_back({t.sizes().vec(), means ? digests(sample_, t) : json::array()});
    }
    ops_.push_back({op.call->overload, std::move(outputs)});
  }
  json ops() && { return std::move(ops_); }

 private:
  Sample sample_;
  const CountingTrace& trace_;
  std::int64_t until_;
  json ops_ = json::array();
};

/// One op of a pass in full.
class OneOp {
 public:
  OneOp(const json& request, std::span<std::byte> room)
      : sample_(request),
        number_(request.at("op")),
        output_(request.at("output")),
        axis_(request.at("axis")),
        room_(room) {}

  void see(const OpSight& op) {
    if (seen_++ != number_) return;
    answer_ = note_of(op);
    const at::Tensor& t = op.outputs.at(output_);
    const Block block{sample_.batch, sample_.position, axis_};
    fits_ = block.bytes(t) <= room_.size();
    if (fits_) block.copy(t, room_.data());
  }
  json answer() && {
    if (answer_.is_null()) throw HarnessError("trace: the pass had fewer ops than the last time");
    if (!fits_) throw UsageError("the op's output needs more than the room; raise --room");
    return std::move(answer_);
  }

 private:
  Sample sample_;
  std::int64_t number_;
  std::size_t output_;
  std::int64_t axis_;
  std::span<std::byte> room_;
  std::int64_t seen_ = 0;
  bool fits_ = true;
  json answer_;
};

}  // namespace

json trace(const json& request, std::span<std::byte> room) {
  const auto model = ready(model_run(request));
  Producers producers;
  const Sample sample(request);
  BlockTrace blocks(sample, request.at("only"), Room(room), producers);
  {
    std::optional<OpWatch> watch;
    if (!sample.whole) watch.emplace([&](const OpSight& op) { producers.see(op); });
    model->forward(&blocks);
  }
  return std::move(blocks).answer();
}

json trace_ops(const json& request, std::span<std::byte> room) {
  const auto model = ready(model_run(request));
  CountingTrace trace;
  if (request.contains("op")) {
    OneOp one(request, room);
    {
      const OpWatch watch([&](const OpSight& op) { one.see(op); });
      model->forward(&trace);
    }
    return {{"op", std::move(one).answer()}};
  }
  OpDigests digests(Sample(request), trace, request.at("until"));
  {
    const OpWatch watch([&](const OpSight& op) { digests.see(op); });
    model->forward(&trace);
  }
  return {{"ops", std::move(digests).ops()}};
}

}  // namespace bic::libtorch
