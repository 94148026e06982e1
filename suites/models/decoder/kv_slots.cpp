#include "suites/models/decoder/kv_slots.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros.h>

namespace bic::decoder {
namespace {

void write_rows(at::Tensor& slots, const std::vector<Chunk>& chunks, const at::Tensor& own) {
  for (std::size_t b = 0; b < chunks.size(); ++b) {
    const Chunk& c = chunks[b];
    const at::Tensor rows = own.select(0, static_cast<std::int64_t>(b)).select(0, 0);
    slots.select(0, c.slot).slice(0, c.start, c.end()).copy_(rows.slice(0, 0, c.size()));
  }
}

}  // namespace

KvSlots::KvSlots(const pi0::Pass& pass, std::int64_t slots, std::int64_t capacity) {
  const at::Tensor& like = pass.weight(pass.config.names.embedding + ".weight");
  const at::TensorOptions options = like.options().dtype(pass.precision.model);
  const std::vector<std::int64_t> shape{slots, capacity, pass.config.head_dim};
  for (std::int64_t l = 0; l < pass.config.layers; ++l) {
    layers_.push_back({at::zeros(shape, options), at::zeros(shape, options)});
  }
}

void KvSlots::write(std::size_t layer,
                    const std::vector<Chunk>& chunks,
                    const pi0::KeysValues& own) {
  write_rows(layers_[layer].keys, chunks, own.keys);
  write_rows(layers_[layer].values, chunks, own.values);
}

pi0::KeysValues KvSlots::read(std::size_t layer, const at::Tensor& slots, std::int64_t rows) const {
  const auto gathered = [&](const at::Tensor& all) {
    return at::index_select(all.slice(1, 0, rows), 0, slots).unsqueeze(1);
  };
  return {gathered(layers_[layer].keys), gathered(layers_[layer].values)};
}

void KvSlots::copy(std::int64_t from, std::int64_t to, std::int64_t rows) {
  if (from == to) return;
  for (pi0::KeysValues& layer : layers_) {
    for (at::Tensor* all : {&layer.keys, &layer.values}) {
      all->select(0, to).slice(0, 0, rows).copy_(all->select(0, from).slice(0, 0, rows));
    }
  }
}

}  // namespace bic::decoder
