// Sums, moments, norms and running sums in __float128.
#include <quadmath.h>

#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

Quads naive_sum(const Sample& s) {
  const std::int64_t p = s.dims.contains("p") ? s.dims.at("p") : 1;
  Quads y(p);
  for (std::size_t i = 0; i < s.values[0].size(); ++i) y[i % p] += s.values[0][i];
  return y;
}

Quads naive_mean(const Sample& s) {
  Quads y = naive_sum(s);
  for (Quad& v : y) v /= static_cast<Quad>(s.values[0].size() / y.size());
  return y;
}

Quads naive_variance(const Sample& s) {
  const Quads mean = naive_mean(s);
  if (s.attributes.at("output") == "mean") return mean;
  const std::size_t p = mean.size(), n = s.values[0].size() / p;
  Quads y(p);
  for (std::size_t i = 0; i < n * p; ++i) {
    const Quad d = s.values[0][i] - mean[i % p];
    y[i % p] += d * d / (n - (s.attributes.at("correction") == "1" ? 1 : 0));
  }
  if (s.attributes.at("output") == "std") {
    for (Quad& v : y) v = sqrtq(v);
  }
  return y;
}

Quads naive_vector_norm(const Sample& s) {
  const bool squares = s.attributes.at("ord") == "2";
  const std::int64_t p = s.dims.contains("p") ? s.dims.at("p") : 1;
  Quads y(p);
  for (std::size_t i = 0; i < s.values[0].size(); ++i) {
    const Quad x = s.values[0][i];
    y[i % p] += squares ? x * x : fabsq(x);
  }
  if (squares) {
    for (Quad& v : y) v = sqrtq(v);
  }
  return y;
}

Quads naive_cumsum(const Sample& s) {
  const std::size_t p = s.dims.contains("p") ? s.dims.at("p") : 1;
  Quads y(s.values[0].begin(), s.values[0].end());
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (i / p % s.dims.at("h") > 0) y[i] += y[i - p];
  }
  return y;
}

Quads naive_product(const Sample& s) {
  Quads y(s.dims.at("p"), 1);
  for (std::size_t i = 0; i < s.values[0].size(); ++i) y[i % y.size()] *= s.values[0][i];
  return y;
}

Quads naive_largest(const Sample& s) {
  const std::size_t p = s.dims.contains("p") ? s.dims.at("p") : 1;
  Quads y(s.values[0].begin(), s.values[0].begin() + p);
  for (std::size_t i = p; i < s.values[0].size(); ++i) y[i % p] = fmaxq(y[i % p], s.values[0][i]);
  return y;
}

/// Two elements at least: one has no variance.
OracleCase reduction(const std::string& name,
                     std::shared_ptr<const Reference> reference,
                     std::int64_t p,
                     const Attributes& attributes,
                     Quads (*naive)(const Sample&)) {
  return {name,
          std::move(reference),
          [=](Rng& r, DType t) {
            const std::int64_t h = 2 + r() % 60;
            Sample s{{normals(r, t, h * p)}, {{"h", h}}, attributes};
            if (p > 1) s.dims["p"] = p;
            return s;
          },
          naive};
}

}  // namespace

std::vector<OracleCase> reduction_cases() {
  const auto variance = [](const std::string& name, std::int64_t p, const Attributes& a) {
    return reduction(name, variance_reference(), p, a, naive_variance);
  };
  return {
      reduction("sum", sum_reference(), 1, {}, naive_sum),
      reduction("sum_middle", sum_reference(), 5, {}, naive_sum),
      reduction("mean", mean_reference(), 1, {}, naive_mean),
      reduction("mean_middle", mean_reference(), 5, {}, naive_mean),
      variance("var", 1, {{"correction", "1"}, {"output", "var"}}),
      variance("var_population", 5, {{"correction", "0"}, {"output", "var"}}),
      variance("std", 5, {{"correction", "1"}, {"output", "std"}}),
      variance("var_mean", 1, {{"correction", "1"}, {"output", "mean"}}),
      reduction("norm_2", vector_norm_reference(), 1, {{"ord", "2"}}, naive_vector_norm),
      reduction("norm_1", vector_norm_reference(), 5, {{"ord", "1"}}, naive_vector_norm),
      reduction("cumsum", cumsum_reference(), 1, {}, naive_cumsum),
      reduction("cumsum_middle", cumsum_reference(), 5, {}, naive_cumsum),
      {"cumsum_outer",
       cumsum_reference(),
       [](Rng& r, DType t) {
         const std::int64_t h = 1 + r() % 60;
         return Sample{{normals(r, t, 3 * h * 2)}, {{"t", 3}, {"h", h}, {"p", 2}}, {}};
       },
       naive_cumsum},
      reduction("product", product_reference(), 5, {}, naive_product),
      reduction("largest", largest_reference(), 5, {}, naive_largest),
  };
}

}  // namespace bic::testing_support
