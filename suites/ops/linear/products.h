#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {

using Axes = std::vector<std::string>;

/// y = beta c + alpha a b: what a call says of the factors, and which they are.
struct Factors {
  std::string arguments;
  Attributes values;
};

/// Factors that only fp32 holds: rounded to 16 bits they would show.
inline Factors factors(bool scaled) {
  if (!scaled) return {};
  return {", beta=beta, alpha=alpha", {{"alpha", "0x1.99999ap-1"}, {"beta", "-0x1.4cccccp+0"}}};
}

constexpr auto kProductBound =
    "gamma_K sum |a b| for K terms in any order, fused or not (Higham 3.1)";
constexpr auto kSumBound =
    "gamma_(K+2) (|alpha| sum |a b| + |beta c|), K + 1 without factors (Higham 3.1)";

/// What the products of matrices have in common.
inline OpSpec products(std::string name,
                       std::string formula,
                       std::string why,
                       std::string bound,
                       std::vector<Variant> variants,
                       std::vector<DimRange> dims) {
  return {.name = std::move(name),
          .formula = std::move(formula),
          .why = std::move(why),
          .bound = std::move(bound),
          .variants = std::move(variants),
          .laws = {Law::kCancel, Law::kWide, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .contraction = true,
          .dims = std::move(dims),
          .reference = matmul_reference()};
}

}  // namespace bic::ops
