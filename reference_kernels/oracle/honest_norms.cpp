// Honest evaluations of softmaxes and norms.
#include <algorithm>

#include "reference_kernels/oracle/honest_op.h"
#include "reference_kernels/oracle/honest_sums.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

enum class Finish { kQuotient, kReciprocal, kLog, kLogSum };

template <class A>
std::vector<A> honest_softmax(Rng& rng, const Sample& s, Finish finish) {
  const std::vector<A> x = cast<A>(s.values[0]);
  const A largest = *std::max_element(x.begin(), x.end());
  std::vector<A> e = x;
  for (A& v : e) v = worsen(rng, std::exp(v - largest));
  const A sum = honest_sum<A>(rng, e), log = worsen(rng, std::log(sum));
  if (finish == Finish::kLogSum) return {log + largest};
  for (std::size_t i = 0; i < e.size(); ++i) {
    if (finish == Finish::kQuotient) e[i] /= sum;
    if (finish == Finish::kReciprocal) e[i] *= 1 / sum;
    if (finish == Finish::kLog) e[i] = (x[i] - largest) - log;
  }
  return e;
}

/// Rows of n elements; element i has the affine operands' element i / inner.
struct Rows {
  std::size_t n, inner;
};

Rows rows_of(const Sample& s) {
  if (!s.dims.contains("c")) return {s.values[0].size(), 1};
  const std::size_t inner = s.dims.at("l");
  return {s.dims.at("c") * inner, inner};
}

template <class A>
struct RowMoments {
  A mean, rstd;
};

template <class A>
RowMoments<A> two_pass(Rng& rng, std::span<const A> x, bool center) {
  const A n = static_cast<A>(x.size());
  const A sum = honest_sum<A>(rng, x);
  const A mean = !center ? A{} : rng() % 2 == 0 ? sum / n : sum * (1 / n);
  std::vector<A> d(x.begin(), x.end());
  for (A& v : d) v -= mean;
  const A squares = honest_dot<A>(rng, d, d);
  const A variance = rng() % 2 == 0 ? squares / n : squares * (1 / n);
  return {mean, 1 / std::sqrt(variance + static_cast<A>(0x1p-17))};
}

template <class A>
RowMoments<A> welford(std::span<const A> x) {
  A mean = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const A before = x[i] - mean;
    mean += before * (1 / static_cast<A>(i + 1));
    squares += before * (x[i] - mean);
  }
  return {mean, 1 / std::sqrt(squares / static_cast<A>(x.size()) + static_cast<A>(0x1p-17))};
}

/// How x becomes y: (x - mean) * rstd, x * rstd + (-mean * rstd), either * w + b; or x * s + (b -
/// mean * s).
enum class Form { kCentred, kRms, kAxb, kFolded };

template <class A>
A finish_norm(Form form, A x, RowMoments<A> m, A w, A b) {
  if (form == Form::kFolded) return x * (m.rstd * w) + (b - m.mean * (m.rstd * w));
  if (form == Form::kAxb) return (x * m.rstd + -m.mean * m.rstd) * w + b;
  return (x - m.mean) * m.rstd * w + b;
}

template <class A>
std::vector<A> honest_norm(Rng& rng, const Sample& s, Form form) {
  const Rows rows = rows_of(s);
  const std::vector<A> x = cast<A>(s.values[0]);
  const bool two = form == Form::kCentred || form == Form::kRms;
  std::vector<A> y;
  for (std::size_t i = 0; i < x.size(); i += rows.n) {
    const std::span<const A> row = std::span(x).subspan(i, rows.n);
    const auto m = two ? two_pass<A>(rng, row, form != Form::kRms) : welford<A>(row);
    for (A v : row) {
      const std::size_t p = y.size() / rows.inner;
      const A w = s.values.size() > 1 ? static_cast<A>(s.values[1][p]) : 1;
      const A b = s.values.size() > 2 ? static_cast<A>(s.values[2][p]) : 0;
      y.push_back(finish_norm(form, v, m, w, b));
    }
  }
  return y;
}

template <class A>
std::vector<A> honest_batch_norm(Rng& rng, const Sample& s, bool fold) {
  std::vector<A> y = cast<A>(s.values[0]);
  const std::size_t inner = s.dims.at("l");
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t c = i / inner;
    const A root = std::sqrt(std::fabs(static_cast<A>(s.values[2][c])) + static_cast<A>(0x1p-17));
    const RowMoments<A> m{static_cast<A>(s.values[1][c]), 1 / root};
    const A w = s.values.size() > 3 ? static_cast<A>(s.values[3][c]) : 1;
    const A b = s.values.size() > 3 ? static_cast<A>(s.values[4][c]) : 0;
    const Form form = fold ? Form::kFolded : Form::kCentred;
    const A divided = (y[i] - m.mean) / root;
    y[i] = fold || rng() % 2 == 0 ? finish_norm(form, y[i], m, w, b) : std::fma(divided, w, b);
  }
  return y;
}

/// With up to `parameters` operands of h elements beside x.
Sample draw_row_norm(Rng& rng, DType t, std::size_t parameters) {
  Sample s = draw_row(rng, t, {{"eps", "0x1p-17"}});
  const auto n = static_cast<std::int64_t>(s.values[0].size());
  if (rng() % 2 == 0) return s;
  while (s.values.size() <= parameters) s.values.push_back(draw_many(rng, draw_kind(rng), t, n));
  return s;
}

/// With `given` operands of a channel each beside x, and at random two more.
Sample draw_channels(Rng& rng, DType t, std::int64_t groups, std::size_t given) {
  const std::int64_t c = 1 + static_cast<std::int64_t>(rng() % 4);
  const std::int64_t l = 1 + static_cast<std::int64_t>(rng() % 12);
  Sample s{{draw_many(rng, draw_kind(rng), t, groups * c * l)},
           {{"c", c}, {"l", l}},
           {{"eps", "0x1p-17"}}};
  for (std::size_t more = given + 2 * (rng() % 2); more > 0; --more) {
    s.values.push_back(draw_many(rng, draw_kind(rng), t, groups * c));
  }
  return s;
}

std::vector<HonestOp> honest_softmaxes() {
  const Arithmetic plain, reciprocal{.form = "reciprocal"};
  const auto row = [](Rng& r, DType t) { return draw_row(r, t); };
  const auto in = [](Finish f, auto zero) {
    return [f](Rng& r, const Sample& s) { return honest_softmax<decltype(zero)>(r, s, f); };
  };
  const auto op = [&](const char* name, auto reference, const Arithmetic& arithmetic, Finish f) {
    return HonestOp{name, reference, arithmetic, row, in(f, 0.f), in(f, 0.)};
  };
  return {op("softmax", softmax_reference(), plain, Finish::kQuotient),
          op("softmax_reciprocal", softmax_reference(), reciprocal, Finish::kReciprocal),
          op("log_softmax", log_softmax_reference(), plain, Finish::kLog),
          op("logsumexp", logsumexp_reference(), plain, Finish::kLogSum)};
}

}  // namespace

std::vector<HonestOp> honest_norms() {
  const Arithmetic plain, axb{.form = "ax+b"}, fold{.form = "folded"};
  const auto rows = [](std::size_t parameters) {
    return [parameters](Rng& r, DType t) { return draw_row_norm(r, t, parameters); };
  };
  const auto groups = [](Rng& r, DType t) { return draw_channels(r, t, 3, 0); };
  const auto channels = [](Rng& r, DType t) { return draw_channels(r, t, 1, 2); };
  const auto in = [](Form f, auto zero) {
    return [f](Rng& r, const Sample& s) { return honest_norm<decltype(zero)>(r, s, f); };
  };
  const auto op = [&](const char* name, auto reference, const Arithmetic& a, auto draw, Form f) {
    return HonestOp{name, reference, a, draw, in(f, 0.f), in(f, 0.)};
  };
  const auto batch = [](bool f, auto zero) {
    return [f](Rng& r, const Sample& s) { return honest_batch_norm<decltype(zero)>(r, s, f); };
  };
  std::vector<HonestOp> all = honest_softmaxes();
  const auto batch_reference = batch_norm_reference();
  all.insert(
      all.end(),
      {op("layer_norm", layer_norm_reference(), plain, rows(2), Form::kCentred),
       op("layer_norm_axb", layer_norm_reference(), axb, rows(2), Form::kAxb),
       op("rms_norm", rms_norm_reference(), plain, rows(1), Form::kRms),
       op("group_norm", group_norm_reference(), plain, groups, Form::kCentred),
       op("group_norm_folded", group_norm_reference(), fold, groups, Form::kFolded),
       {"batch_norm", batch_reference, plain, channels, batch(false, 0.f), batch(false, 0.)},
       {"batch_norm_folded", batch_reference, fold, channels, batch(true, 0.f), batch(true, 0.)}});
  return all;
}

}  // namespace bic::testing_support
