#pragma once

#include <cstdint>
#include <vector>

#include "suites/models/pi0/model.h"

namespace bic::decoder {

/// The decoder as one would write it down: loops over fp64 numbers, no ATen, no cache, one
/// sequence, every token again for each new one. What the tests hold the real one against.
class PlainDecoder {
 public:
  explicit PlainDecoder(const pi0::Model& model);

  /// Logits after the last of `tokens`, [vocabulary].
  std::vector<double> logits(const std::vector<std::int64_t>& tokens) const;

 private:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  const Row& weight(const std::string& name) const;
  Row linear(const std::string& name, const Row& x) const;
  Row rms_norm(const std::string& name, const Row& x) const;
  void turn(double* head, std::int64_t position) const;
  Rows attention(const std::string& name, const Rows& x) const;
  Row mlp(const std::string& name, const Row& x) const;

  pi0::Config config_;
  std::unordered_map<std::string, Row> weights_;
};

}  // namespace bic::decoder
