// Honest evaluations of sums, moments, norms and running sums.
#include <algorithm>

#include "reference_kernels/oracle/honest_op.h"
#include "reference_kernels/oracle/honest_sums.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

template <class A>
std::vector<A> honest_row_sum(Rng& rng, const Sample& s) {
  return {honest_sum<A>(rng, cast<A>(s.values[0]))};
}

template <class A>
std::vector<A> honest_mean(Rng& rng, const Sample& s) {
  const A sum = honest_row_sum<A>(rng, s)[0], n = static_cast<A>(s.values[0].size());
  return {rng() % 2 == 0 ? sum / n : sum * (1 / n)};
}

template <class A>
std::vector<A> finish_variance(const Sample& s, A mean, A squares) {
  const A n = static_cast<A>(s.values[0].size());
  const A variance = squares / (n - static_cast<A>(s.attributes.at("correction") == "1"));
  const std::string& output = s.attributes.at("output");
  return {output == "mean" ? mean : output == "std" ? std::sqrt(variance) : variance};
}

template <class A>
std::vector<A> honest_variance(Rng& rng, const Sample& s) {
  std::vector<A> d = cast<A>(s.values[0]);
  const A mean = honest_mean<A>(rng, s)[0];
  for (A& v : d) v -= mean;
  return finish_variance(s, mean, honest_dot<A>(rng, d, d));
}

template <class A>
std::vector<A> welford_variance(Rng&, const Sample& s) {
  A mean = 0, squares = 0, count = 0;
  for (A x : cast<A>(s.values[0])) {
    const A before = x - mean;
    mean += before / ++count;
    squares += before * (x - mean);
  }
  return finish_variance(s, mean, squares);
}

template <class A>
std::vector<A> honest_vector_norm(Rng& rng, const Sample& s) {
  std::vector<A> x = cast<A>(s.values[0]);
  if (s.attributes.at("ord") == "2") return {std::sqrt(honest_dot<A>(rng, x, x))};
  for (A& v : x) v = std::fabs(v);
  return {honest_sum<A>(rng, x)};
}

template <class A>
std::vector<A> honest_cumsum(Rng& rng, const Sample& s) {
  const std::vector<A> x = cast<A>(s.values[0]);
  std::vector<A> y;
  for (std::size_t n = 1; n <= x.size(); ++n) {
    y.push_back(honest_sum<A>(rng, std::span(x).first(n)));
  }
  return y;
}

template <class A>
std::vector<A> honest_product(Rng& rng, const Sample& s) {
  std::vector<A> x = cast<A>(s.values[0]);
  std::shuffle(x.begin(), x.end(), rng);
  while (x.size() > 1) {
    const A last = x.back();
    x.pop_back();
    x[rng() % x.size()] *= last;
  }
  return x;
}

template <class A>
std::vector<A> honest_largest(Rng&, const Sample& s) {
  const std::vector<A> x = cast<A>(s.values[0]);
  return {*std::max_element(x.begin(), x.end())};
}

auto rows_with(const Attributes& attributes) {
  return [attributes](Rng& rng, DType t) { return draw_row(rng, t, attributes); };
}

/// Of that output, in two passes and updated element by element.
void add_moments(std::vector<HonestOp>& all,
                 const std::string& output,
                 const std::string& correction) {
  const auto draw = rows_with({{"correction", correction}, {"output", output}});
  all.push_back({output == "mean" ? "var_mean" : output,
                 variance_reference(),
                 {},
                 draw,
                 honest_variance<float>,
                 honest_variance<double>});
  all.push_back({output + "_welford",
                 variance_reference(),
                 {.form = "welford"},
                 draw,
                 welford_variance<float>,
                 welford_variance<double>});
}

template <class InFloat, class InDouble>
HonestOp plain(std::string name,
               std::shared_ptr<const Reference> reference,
               InFloat in_float,
               InDouble in_double,
               const Attributes& attributes = {}) {
  return {std::move(name), std::move(reference), {}, rows_with(attributes), in_float, in_double};
}

}  // namespace

std::vector<HonestOp> honest_reductions() {
  const auto norm = vector_norm_reference();
  std::vector<HonestOp> all{
      plain("sum", sum_reference(), honest_row_sum<float>, honest_row_sum<double>),
      plain("mean", mean_reference(), honest_mean<float>, honest_mean<double>),
      plain("norm_2", norm, honest_vector_norm<float>, honest_vector_norm<double>, {{"ord", "2"}}),
      plain("norm_1", norm, honest_vector_norm<float>, honest_vector_norm<double>, {{"ord", "1"}}),
      plain("cumsum", cumsum_reference(), honest_cumsum<float>, honest_cumsum<double>),
      plain("product", product_reference(), honest_product<float>, honest_product<double>),
      plain("largest", largest_reference(), honest_largest<float>, honest_largest<double>),
  };
  add_moments(all, "var", "1");
  add_moments(all, "std", "0");
  add_moments(all, "mean", "1");
  return all;
}

}  // namespace bic::testing_support
