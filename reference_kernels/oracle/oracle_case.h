#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "reference_kernels/oracle/sample_draws.h"

namespace bic::testing_support {

using Rng = std::mt19937_64;
using Quad = __float128;
using Quads = std::vector<Quad>;

/// A reference, how to draw a sample of it, and the formula written out.
struct OracleCase {
  std::string name;
  std::shared_ptr<const Reference> reference;
  std::function<Sample(Rng&, DType)> draw;
  std::function<Quads(const Sample&)> naive;
};

inline void PrintTo(const OracleCase& c, std::ostream* out) { *out << c.name; }

// One list a family.
std::vector<OracleCase> attention_cases();
std::vector<OracleCase> contraction_cases();
std::vector<OracleCase> norm_cases();
std::vector<OracleCase> pointwise_cases();
std::vector<OracleCase> product_cases();
std::vector<OracleCase> reduction_cases();
/// All of them: every reference but those of index, embedding and where, whose operands are not all
/// values.
std::vector<OracleCase> oracle_cases();

inline std::vector<double> normals(Rng& rng, DType dtype, std::int64_t count) {
  return draw_many(rng, Kind::kNormal, dtype, count);
}

}  // namespace bic::testing_support
