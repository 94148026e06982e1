#include "harness/plan/pool.h"

#include <algorithm>
#include <cstring>

#include "adapters/protocol/gather.h"
#include "results_schema/shape.h"
#include "suites/ops/input_values.h"

namespace bic {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t align(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::int64_t block_bytes(const TensorSpec& t, const Problem& problem) {
  std::int64_t n = element_size(t, problem.dtype);
  for (std::int64_t e : block_shape(t, problem.dims)) n *= e;
  return n;
}

protocol::ProblemMessage declare(const Problem& p) {
  protocol::ProblemMessage m;
  m.op = p.op->name;
  m.variant = p.variant->name;
  m.dtype = p.dtype;
  m.dims = p.dims;
  m.attributes = p.attributes;
  m.calls = p.variant->forms;
  m.calls["functional"] = p.variant->call;
  m.output = {.name = p.variant->output.name,
              .axes = p.variant->output.axes,
              .elements = std::string(name(p.output_dtype()))};
  m.reduced = p.variant->reduced;
  return m;
}

}  // namespace

Pool::Pool(const Inputs& inputs,
           std::span<const SampleId> telling,
           std::span<const PlannedTrial> trials)
    : message_(declare(inputs.problem())) {
  for (const PlannedTrial& t : trials) {
    const auto [at, added] = arranged_.try_emplace(t);
    if (!added) continue;
    Arranged& arranged = at->second;
    arranged.slots = arrange(inputs.problem(), telling, t);
    for (std::size_t i = 0; i < arranged.slots.size(); ++i) {
      arranged.positions[arranged.slots[i]].push_back(static_cast<std::int64_t>(i));
      index_.try_emplace(arranged.slots[i], 0);
    }
  }
  std::uint32_t next = 0;
  for (auto& [slot, index] : index_) index = next++;
  for (auto& [planned, arranged] : arranged_) {
    arranged.request.trial = planned.trial;
    for (const Slot& s : arranged.slots) arranged.request.slots.push_back(index_.at(s));
  }
  lay_out(inputs);
  message_.output_bytes = output_bytes();
  write_samples(inputs);
}

/// Room to spare: an output of another shape is a result to report, not a reason to die.
std::int64_t Pool::output_bytes() const {
  const std::int64_t size = protocol::element_size(message_.output.elements);
  std::int64_t most = size;
  for (const auto& [planned, arranged] : arranged_) {
    const auto plan = protocol::plan_tensor(message_, message_.output, arranged.request);
    const std::int64_t bytes = element_count(plan.shape) * size;
    most = std::max(most, planned.trial.pad > 0 ? 2 * bytes : bytes);
  }
  return align(2 * most + 4096);
}

void Pool::lay_out(const Inputs& inputs) {
  std::int64_t next = 0;
  const auto& specs = inputs.problem().variant->inputs;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::int64_t bytes = align(block_bytes(specs[i], inputs.problem()));
    const bool common = inputs.is_common(i);
    message_.inputs.push_back({.name = specs[i].name,
                               .axes = specs[i].axes,
                               .elements = element_name(specs[i], inputs.problem().dtype),
                               .pool_offset = next,
                               .pool_stride = common ? 0 : bytes,
                               .masks = specs[i].masks});
    next += common ? bytes : bytes * static_cast<std::int64_t>(index_.size());
  }
  message_.pool_bytes = next;
}

void Pool::write_samples(const Inputs& inputs) {
  samples_ = protocol::SharedMemory::create(message_.pool_bytes);
  const auto put = [&](std::int64_t at, const std::vector<std::byte>& bytes) {
    if (!bytes.empty()) std::memcpy(samples_.bytes().data() + at, bytes.data(), bytes.size());
  };
  for (std::size_t i = 0; i < message_.inputs.size(); ++i) {
    if (inputs.is_common(i)) put(message_.inputs[i].pool_offset, inputs.common(i));
  }
  for (const auto& [slot, index] : index_) {
    const SampleBytes sample = inputs.sample(slot.id, slot.law);
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const protocol::TensorMessage& t = message_.inputs[i];
      if (!inputs.is_common(i)) put(t.pool_offset + index * t.pool_stride, sample[i]);
    }
  }
}

}  // namespace bic
