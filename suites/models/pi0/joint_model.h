#pragma once

#include <vector>

#include "suites/models/pi0/model.h"

namespace bic::pi0 {

/// Keys (turned by the rotary embedding) and values, [B, 1, T, head_dim], by layer.
struct Cache {
  std::vector<at::Tensor> keys;
  std::vector<at::Tensor> values;
};

/// One tensor an expert, in the order of `Config::experts`; undefined where an expert takes no
/// part.
using Streams = std::vector<at::Tensor>;

/// The decoder of open-pi-zero: each expert has weights of its own, all of them attend together.
class JointModel {
 public:
  explicit JointModel(const Pass& pass) : pass_(pass), caches_(pass.config.experts.size()) {}

  /// Runs the experts that `x` holds; the others' keys and values are those cached before. Scales
  /// x in place. `mask` is added to the logits [B, heads, queries, keys]. With `fill`, keys and
  /// values of the active experts are kept. Of an expert that is cached, the last layer ends with
  /// its attention, and what is returned means nothing.
  Streams run(Streams x, const at::Tensor& mask, bool fill);

  const Cache& cache(std::size_t expert) const { return caches_[expert]; }

 private:
  struct Heads {
    Streams q, k, v;
  };
  bool last(std::size_t layer) const;
  Heads project(const Streams& u, std::size_t layer) const;
  at::Tensor attend(const Heads& heads, const at::Tensor& mask, std::size_t layer) const;
  Streams layer(const Streams& x, const at::Tensor& mask, std::size_t l, bool fill);
  Streams finish(const Streams& x, const Streams& attended, std::size_t l) const;
  void scale(Streams& x) const;
  std::string weights(std::size_t expert, std::size_t layer) const;
  void record_each(const Streams& x, const char* name) const;
  void record_each(const Streams& x, std::size_t layer, const char* name) const;

  const Pass& pass_;
  std::vector<Cache> caches_;
};

}  // namespace bic::pi0
