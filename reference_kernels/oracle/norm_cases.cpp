// Softmaxes and norms in __float128.
#include <quadmath.h>

#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

constexpr Quad kEps = 0x1p-2;  // results are of unit size whatever the variance

/// Sums of exp over all axes but p.
Quads exp_sums(const Sample& s) {
  const std::size_t p = s.dims.contains("p") ? s.dims.at("p") : 1;
  Quads sums(p);
  for (std::size_t i = 0; i < s.values[0].size(); ++i) sums[i % p] += expq(s.values[0][i]);
  return sums;
}

Quads naive_softmax(const Sample& s) {
  const Quads sums = exp_sums(s);
  Quads y;
  for (double x : s.values[0]) y.push_back(expq(x) / sums[y.size() % sums.size()]);
  return y;
}

Quads naive_logsumexp(const Sample& s) {
  Quads y = exp_sums(s);
  for (Quad& v : y) v = logq(v);
  return y;
}

Quads naive_log_softmax(const Sample& s) {
  const Quads sums = naive_logsumexp(s);
  Quads y;
  for (double x : s.values[0]) y.push_back(x - sums[y.size() % sums.size()]);
  return y;
}

/// Rows of n whose element i has the affine operands' element i / inner % their size.
Quads naive_norm(const Sample& s, std::size_t n, std::size_t inner, bool center) {
  Quads y;
  for (std::size_t first = 0; first < s.values[0].size(); first += n) {
    Quad mean = 0, variance = 0;
    for (std::size_t i = 0; i < n && center; ++i) mean += s.values[0][first + i];
    mean /= n;
    for (std::size_t i = 0; i < n; ++i) {
      const Quad d = s.values[0][first + i] - mean;
      variance += d * d / n;
    }
    for (std::size_t i = first; i < first + n; ++i) {
      Quad z = (s.values[0][i] - mean) / sqrtq(variance + kEps);
      if (s.values.size() > 1) z *= s.values[1][i / inner % s.values[1].size()];
      if (s.values.size() > 2) z += s.values[2][i / inner % s.values[2].size()];
      y.push_back(z);
    }
  }
  return y;
}

Quads naive_rows(const Sample& s) { return naive_norm(s, s.dims.at("h"), 1, true); }
Quads naive_rms_rows(const Sample& s) { return naive_norm(s, s.dims.at("h"), 1, false); }
Quads naive_groups(const Sample& s) {
  const std::size_t inner = s.dims.at("l");
  return naive_norm(s, s.dims.at("c") * inner, inner, true);
}

Quads naive_batch_norm(const Sample& s) {
  const std::size_t inner = s.dims.at("l");
  Quads y;
  for (std::size_t i = 0; i < s.values[0].size(); ++i) {
    const std::size_t c = i / inner;
    Quad z =
        (static_cast<Quad>(s.values[0][i]) - s.values[1][c]) / sqrtq(fabsq(s.values[2][c]) + kEps);
    if (s.values.size() > 3) z = z * s.values[3][c] + s.values[4][c];
    y.push_back(z);
  }
  return y;
}

OracleCase softmax_case(const std::string& name,
                        std::shared_ptr<const Reference> reference,
                        std::int64_t p,
                        Quads (*naive)(const Sample&)) {
  return {name,
          std::move(reference),
          [=](Rng& r, DType t) {
            const std::int64_t h = 1 + r() % 60;
            Sample s{{normals(r, t, h * p)}, {{"h", h}}, {}};
            if (p > 1) s.dims["p"] = p;
            return s;
          },
          naive};
}

/// `parameters` operands of h elements beside x.
OracleCase row_case(const std::string& name,
                    std::shared_ptr<const Reference> reference,
                    int parameters,
                    Quads (*naive)(const Sample&)) {
  return {name,
          std::move(reference),
          [=](Rng& r, DType t) {
            const std::int64_t h = 1 + r() % 60, rows = parameters > 0 ? 3 : 1;
            Sample s{{normals(r, t, rows * h)}, {{"h", h}}, {{"eps", "0x1p-2"}}};
            for (int i = 0; i < parameters; ++i) s.values.push_back(normals(r, t, h));
            return s;
          },
          naive};
}

/// `parameters` operands of a channel each beside x, `groups` groups of c channels.
OracleCase channel_case(const std::string& name,
                        std::shared_ptr<const Reference> reference,
                        int parameters,
                        std::int64_t groups,
                        Quads (*naive)(const Sample&)) {
  return {name,
          std::move(reference),
          [=](Rng& r, DType t) {
            const std::int64_t c = 1 + r() % 5, l = 1 + r() % 12;
            Sample s{{normals(r, t, groups * c * l)}, {{"c", c}, {"l", l}}, {{"eps", "0x1p-2"}}};
            for (int i = 0; i < parameters; ++i) s.values.push_back(normals(r, t, groups * c));
            return s;
          },
          naive};
}

}  // namespace

std::vector<OracleCase> norm_cases() {
  return {
      softmax_case("softmax", softmax_reference(), 1, naive_softmax),
      softmax_case("softmax_middle", softmax_reference(), 7, naive_softmax),
      softmax_case("log_softmax", log_softmax_reference(), 1, naive_log_softmax),
      softmax_case("log_softmax_middle", log_softmax_reference(), 7, naive_log_softmax),
      softmax_case("logsumexp", logsumexp_reference(), 1, naive_logsumexp),
      softmax_case("logsumexp_middle", logsumexp_reference(), 7, naive_logsumexp),
      row_case("layer_norm", layer_norm_reference(), 2, naive_rows),
      row_case("layer_norm_plain", layer_norm_reference(), 0, naive_rows),
      row_case("rms_norm", rms_norm_reference(), 1, naive_rms_rows),
      row_case("rms_norm_plain", rms_norm_reference(), 0, naive_rms_rows),
      channel_case("group_norm", group_norm_reference(), 2, 3, naive_groups),
      channel_case("group_norm_plain", group_norm_reference(), 0, 4, naive_groups),
      channel_case("batch_norm", batch_norm_reference(), 4, 1, naive_batch_norm),
      channel_case("batch_norm_plain", batch_norm_reference(), 2, 1, naive_batch_norm),
  };
}

}  // namespace bic::testing_support
