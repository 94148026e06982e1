#include "suites/models/decoder/forward.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/le.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace bic::decoder {
namespace {

constexpr std::size_t kTower = 0;  ///< in Config::experts

const at::Tensor& embedding(const pi0::Pass& pass) {
  return pass.weight(pass.config.names.embedding + ".weight");
}

at::Tensor integers(const pi0::Pass& pass, const std::vector<std::int64_t>& values) {
  return at::tensor(values, at::kLong).to(embedding(pass).device());
}

/// Adds nothing to the logits of keys 0 to the query's own position, [B, 1, queries, keys].
at::Tensor causal_mask(const at::Tensor& positions, std::int64_t keys) {
  const at::Tensor key = at::arange(keys, positions.options());
  return pi0::additive_mask(at::le(key, positions.unsqueeze(2)));
}

/// Ids and positions of a batch, int64 [chunks, longest chunk]. Padding is token 0 at the positions
/// that would follow.
struct Rectangle {
  at::Tensor ids;
  at::Tensor positions;
  std::int64_t keys = 0;
};

Rectangle rectangle(const std::vector<Chunk>& chunks) {
  std::int64_t longest = 0, keys = 0;
  for (const Chunk& c : chunks) {
    longest = std::max(longest, c.size());
    keys = std::max(keys, c.end());
  }
  const auto b = static_cast<std::int64_t>(chunks.size());
  const at::Tensor ids = at::zeros({b, longest}, at::kLong);
  const at::Tensor positions = at::zeros({b, longest}, at::kLong);
  for (std::int64_t i = 0; i < b; ++i) {
    const Chunk& c = chunks[static_cast<std::size_t>(i)];
    std::copy(c.tokens.begin(), c.tokens.end(), ids.data_ptr<std::int64_t>() + i * longest);
    for (std::int64_t t = 0; t < longest; ++t) {
      positions.data_ptr<std::int64_t>()[i * longest + t] = c.start + t;
    }
  }
  return {ids, positions, keys};
}

std::vector<std::int64_t> slots_of(const std::vector<Chunk>& chunks) {
  std::vector<std::int64_t> slots;
  for (const Chunk& c : chunks) slots.push_back(c.slot);
  return slots;
}

}  // namespace

at::Tensor last_hidden(const pi0::Pass& pass, KvSlots& cache, const std::vector<Chunk>& chunks) {
  const Rectangle r = rectangle(chunks);
  const at::Device device = embedding(pass).device();
  const at::Tensor positions = r.positions.to(device);
  const at::Tensor slots = integers(pass, slots_of(chunks));
  const auto context = [&](std::size_t layer, const pi0::KeysValues& own) {
    cache.write(layer, chunks, own);
    return cache.read(layer, slots, r.keys);
  };
  const at::Tensor y = pi0::decoder_stack(pass,
                                          kTower,
                                          pi0::text_embeddings(pass, r.ids.to(device)),
                                          positions,
                                          causal_mask(positions, r.keys),
                                          context);
  std::vector<at::Tensor> last;
  for (std::size_t b = 0; b < chunks.size(); ++b) {
    last.push_back(y.select(0, static_cast<std::int64_t>(b)).select(0, chunks[b].size() - 1));
  }
  return at::stack(last);
}

at::Tensor head(const pi0::Pass& pass, const at::Tensor& hidden) {
  const at::Tensor logits = at::linear(hidden, pi0::as(embedding(pass), hidden.scalar_type()));
  pass.record(logits, "logits");
  return logits;
}

at::Tensor full_logits(const pi0::Pass& pass, const std::vector<std::int64_t>& tokens) {
  const at::Tensor ids = integers(pass, tokens).unsqueeze(0);
  const at::Tensor positions = at::arange(ids.size(1), ids.options()).unsqueeze(0);
  const at::Tensor y =
      pi0::decoder_stack(pass,
                         kTower,
                         pi0::text_embeddings(pass, ids),
                         positions,
                         causal_mask(positions, ids.size(1)),
                         [](std::size_t, const pi0::KeysValues& own) { return own; });
  return head(pass, y).squeeze(0);
}

std::vector<double> log_probabilities(const pi0::Pass& pass,
                                      const at::Tensor& logits,
                                      const std::vector<std::int64_t>& tokens) {
  const at::Tensor all = at::log_softmax(pi0::as(logits, pass.precision.softmax), -1);
  const at::Tensor chosen = at::gather(all, 1, integers(pass, tokens).unsqueeze(1));
  const at::Tensor wide = chosen.to(at::kCPU, at::kDouble).contiguous();
  const double* first = wide.const_data_ptr<double>();
  return {first, first + wide.numel()};
}

std::vector<std::int64_t> greedy(const at::Tensor& logits) {
  const at::Tensor tokens = at::argmax(logits, -1).to(at::kCPU).contiguous();
  const std::int64_t* first = tokens.const_data_ptr<std::int64_t>();
  return {first, first + tokens.numel()};
}

}  // namespace bic::decoder
