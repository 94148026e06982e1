// Attention in __float128.
#include "reference_kernels/oracle/attention_cases.h"

#include <quadmath.h>

#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

Quads naive_attention(const Sample& s) {
  const std::int64_t l = s.dims.at("l"), keys = s.dims.at("s"), e = s.dims.at("e");
  const bool is_added = s.values.size() > 3 && s.attributes.at("mask") == "added";
  Quads y(4 * l * e);
  for (std::int64_t r = 0; r < 4 * l; ++r) {
    Quad sum = 0;
    for (std::int64_t j = 0; j < keys; ++j) {
      if (!sees(s, r % l, j)) continue;
      const std::int64_t key = (r / l / 2 * keys + j) * e;
      Quad z = 0;
      for (std::int64_t c = 0; c < e; ++c) {
        z += static_cast<Quad>(s.values[1][r * e + c]) * s.values[2][key + c];
      }
      z /= sqrtq(static_cast<Quad>(e));
      if (is_added) z += s.values[3][r % l * keys + j];
      sum += expq(z);
      for (std::int64_t c = 0; c < e; ++c) y[r * e + c] += expq(z) * s.values[0][key + c];
    }
    for (std::int64_t c = 0; c < e; ++c) y[r * e + c] /= sum;
  }
  return y;
}

}  // namespace

std::vector<OracleCase> attention_cases() {
  std::vector<OracleCase> all;
  for (const std::string mask : {"", "added", "bool", "causal"}) {
    const auto draw = [mask](Rng& rng, DType t) {
      return draw_attention(rng, Kind::kNormal, t, mask);
    };
    all.push_back({"attention" + (mask.empty() ? "" : "_" + mask),
                   attention_reference(),
                   draw,
                   naive_attention});
  }
  return all;
}

}  // namespace bic::testing_support
