#include "harness/trace/first_differing.h"

#include <algorithm>

namespace bic {
namespace {

/// Ops passed over on both sides together before two passes are given up: a loop over the largest
/// batch with some ten ops a sample.
constexpr std::size_t kMostPassedOver = 1 << 13;

constexpr std::int64_t kSame = -1, kOther = -2;

/// The axis on which `batched` is `batch` times as long; kSame for equal shapes, else kOther.
std::int64_t grown_axis(const OutputDigest& alone,
                        const OutputDigest& batched,
                        std::int64_t batch) {
  if (alone.shape.size() != batched.shape.size()) return kOther;
  std::int64_t grown = kSame;
  for (std::size_t i = 0; i < alone.shape.size(); ++i) {
    if (alone.shape[i] == batched.shape[i]) continue;
    if (grown != kSame || alone.shape[i] * batch != batched.shape[i]) return kOther;
    grown = static_cast<std::int64_t>(i);
  }
  return grown;
}

class Pairing {
 public:
  Pairing(const std::vector<OpDigest>& alone,
          const std::vector<OpDigest>& batched,
          std::int64_t batch)
      : alone_(alone), batched_(batched), batch_(batch) {}

  /// The same op on one sample and on the batch.
  bool are_a_pair(std::size_t i, std::size_t j) const {
    const OpDigest &a = alone_[i], &b = batched_[j];
    if (a.overload != b.overload || a.outputs.size() != b.outputs.size()) return false;
    bool grew = false;
    for (std::size_t o = 0; o < a.outputs.size(); ++o) {
      const std::int64_t axis = grown_axis(a.outputs[o], b.outputs[o], batch_);
      if (axis == kOther) return false;
      grew = grew || axis >= 0;
    }
    return grew;
  }

  /// Moves to the next pair from (i, j), over as few ops as possible. False at the end.
  bool find_next(std::size_t& i, std::size_t& j) const {
    for (std::size_t over = 0; over <= kMostPassedOver; ++over) {
      if (i + over >= alone_.size() + batched_.size() - j) return false;
      for (std::size_t a = 0; a <= over; ++a) {
        const std::size_t x = i + a, y = j + over - a;
        if (x >= alone_.size() || y >= batched_.size() || !are_a_pair(x, y)) continue;
        i = x, j = y;
        return true;
      }
    }
    return false;
  }

  std::optional<OutputBlock> difference(std::size_t i, std::size_t j) const {
    for (std::size_t o = 0; o < alone_[i].outputs.size(); ++o) {
      const OutputDigest &a = alone_[i].outputs[o], &b = batched_[j].outputs[o];
      const std::int64_t axis = grown_axis(a, b, batch_);
      const auto x = a.by_axis.find(axis), y = b.by_axis.find(axis);
      if (x == a.by_axis.end() || y == b.by_axis.end() || x->second == y->second) continue;
      return OutputBlock{static_cast<std::int64_t>(o), axis};
    }
    return {};
  }

 private:
  const std::vector<OpDigest>& alone_;
  const std::vector<OpDigest>& batched_;
  std::int64_t batch_;
};

std::vector<std::string> overloads(const std::vector<OpDigest>& ops,
                                   std::size_t from,
                                   std::size_t to) {
  std::vector<std::string> names;
  for (; from < to; ++from) names.push_back(ops[from].overload);
  return names;
}

}  // namespace

std::optional<DifferingOp> first_differing(const std::vector<OpDigest>& alone,
                                           const std::vector<OpDigest>& batched,
                                           std::int64_t batch) {
  const Pairing pairing(alone, batched, batch);
  std::size_t i = 0, j = 0;
  for (std::size_t from_i = 0, from_j = 0; pairing.find_next(i, j); from_i = ++i, from_j = ++j) {
    if (const auto block = pairing.difference(i, j)) {
      return DifferingOp{i, j, *block, overloads(alone, from_i, i), overloads(batched, from_j, j)};
    }
  }
  return {};
}

}  // namespace bic
