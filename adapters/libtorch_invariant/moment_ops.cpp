#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>

#include "adapters/libtorch_invariant/binding.h"
#include "adapters/libtorch_invariant/ops.h"
#include "adapters/libtorch_invariant/reductions.h"

#include BIC_STOCK(linalg_vector_norm)
#include BIC_STOCK(mean)
#include BIC_STOCK(prod)
#include BIC_STOCK(std)
#include BIC_STOCK(std_mean)
#include BIC_STOCK(sum)
#include BIC_STOCK(var)
#include BIC_STOCK(var_mean)

namespace bic::libtorch_invariant {
namespace {

using Correction = std::optional<at::Scalar>;
using Moments = std::tuple<at::Tensor, at::Tensor>;

at::Tensor reduce(const at::Tensor& x,
                  const std::vector<bool>& summed,
                  bool keepdim,
                  const SumRule& rule) {
  at::Tensor y = at::empty(sum_shape(x, summed, keepdim), x.options());
  sum_into(x, summed, rule, y);
  return y;
}

at::Tensor& reduce_out(const at::Tensor& x,
                       const std::vector<bool>& summed,
                       bool keepdim,
                       const SumRule& rule,
                       at::Tensor& out) {
  at::native::resize_output(out, sum_shape(x, summed, keepdim));
  return write(out, out.is_alias_of(x), [&](const at::Tensor& y) { sum_into(x, summed, rule, y); });
}

SumRule mean_rule(const at::Tensor& x, const std::vector<bool>& summed) {
  return {.divisor = static_cast<double>(terms_of(x, summed))};
}

SumRule variance_rule(const at::Tensor& x,
                      const std::vector<bool>& summed,
                      const Correction& correction,
                      bool root) {
  const double freedom =
      static_cast<double>(terms_of(x, summed)) - correction.value_or(1).toDouble();
  return {.of = cpu::SumOf::kDeviations, .divisor = std::max(0.0, freedom), .root = root};
}

Moments moments(const at::Tensor& x,
                at::OptionalIntArrayRef dims,
                const Correction& correction,
                bool keepdim,
                bool root) {
  const auto summed = summed_axes(x, dims);
  at::Tensor y = at::empty(sum_shape(x, summed, keepdim), x.options());
  at::Tensor mean = at::empty_like(y);
  sum_into(x, summed, variance_rule(x, summed, correction, root), y, mean);
  return {y, mean};
}

bool takes_ord(const at::Scalar& ord) { return ord.equal(1) || ord.equal(2); }

SumRule norm_rule(const at::Scalar& ord) {
  if (ord.equal(1)) return {.of = cpu::SumOf::kSizes};
  return {.of = cpu::SumOf::kSquares, .root = true};
}

const SumRule kProduct{.of = cpu::SumOf::kFactors};

}  // namespace

at::Tensor sum(const at::Tensor& x, std::optional<at::ScalarType> dtype) {
  return sum_dim(x, std::nullopt, false, dtype);
}

at::Tensor sum_dim(const at::Tensor& x,
                   at::OptionalIntArrayRef dims,
                   bool keepdim,
                   std::optional<at::ScalarType> dtype) {
  if (!takes_sum(x, dtype)) return stock::sum(x, dims, keepdim, dtype);
  return reduce(summand(x, dtype), summed_axes(x, dims), keepdim, {});
}

at::Tensor& sum_dim_out(const at::Tensor& x,
                        at::OptionalIntArrayRef dims,
                        bool keepdim,
                        std::optional<at::ScalarType> dtype,
                        at::Tensor& out) {
  if (!takes_sum_out(x, dtype, out)) return stock::sum_outf(x, dims, keepdim, dtype, out);
  return reduce_out(summand(x, dtype), summed_axes(x, dims), keepdim, {}, out);
}

at::Tensor mean_dim(const at::Tensor& x,
                    at::OptionalIntArrayRef dims,
                    bool keepdim,
                    std::optional<at::ScalarType> dtype) {
  if (!takes_sum(x, dtype)) return stock::mean(x, dims, keepdim, dtype);
  const auto summed = summed_axes(x, dims);
  return reduce(summand(x, dtype), summed, keepdim, mean_rule(x, summed));
}

at::Tensor& mean_out(const at::Tensor& x,
                     at::OptionalIntArrayRef dims,
                     bool keepdim,
                     std::optional<at::ScalarType> dtype,
                     at::Tensor& out) {
  if (!takes_sum_out(x, dtype, out)) return stock::mean_outf(x, dims, keepdim, dtype, out);
  const auto summed = summed_axes(x, dims);
  return reduce_out(summand(x, dtype), summed, keepdim, mean_rule(x, summed), out);
}

at::Tensor var_correction(const at::Tensor& x,
                          at::OptionalIntArrayRef dims,
                          const Correction& correction,
                          bool keepdim) {
  if (!takes_sum(x, {})) return stock::var(x, dims, correction, keepdim);
  const auto summed = summed_axes(x, dims);
  return reduce(x, summed, keepdim, variance_rule(x, summed, correction, false));
}

at::Tensor& var_correction_out(const at::Tensor& x,
                               at::OptionalIntArrayRef dims,
                               const Correction& correction,
                               bool keepdim,
                               at::Tensor& out) {
  if (!takes_sum_out(x, {}, out)) return stock::var_outf(x, dims, correction, keepdim, out);
  const auto summed = summed_axes(x, dims);
  return reduce_out(x, summed, keepdim, variance_rule(x, summed, correction, false), out);
}

at::Tensor std_correction(const at::Tensor& x,
                          at::OptionalIntArrayRef dims,
                          const Correction& correction,
                          bool keepdim) {
  if (!takes_sum(x, {})) return stock::std(x, dims, correction, keepdim);
  const auto summed = summed_axes(x, dims);
  return reduce(x, summed, keepdim, variance_rule(x, summed, correction, true));
}

at::Tensor& std_correction_out(const at::Tensor& x,
                               at::OptionalIntArrayRef dims,
                               const Correction& correction,
                               bool keepdim,
                               at::Tensor& out) {
  if (!takes_sum_out(x, {}, out)) return stock::std_outf(x, dims, correction, keepdim, out);
  const auto summed = summed_axes(x, dims);
  return reduce_out(x, summed, keepdim, variance_rule(x, summed, correction, true), out);
}

Moments var_mean(const at::Tensor& x,
                 at::OptionalIntArrayRef dims,
                 const Correction& correction,
                 bool keepdim) {
  if (!takes_sum(x, {})) return stock::var_mean(x, dims, correction, keepdim);
  return moments(x, dims, correction, keepdim, false);
}

Moments std_mean(const at::Tensor& x,
                 at::OptionalIntArrayRef dims,
                 const Correction& correction,
                 bool keepdim) {
  if (!takes_sum(x, {})) return stock::std_mean(x, dims, correction, keepdim);
  return moments(x, dims, correction, keepdim, true);
}

at::Tensor vector_norm(const at::Tensor& x,
                       const at::Scalar& ord,
                       at::OptionalIntArrayRef dims,
                       bool keepdim,
                       std::optional<at::ScalarType> dtype) {
  if (!takes_sum(x, dtype) || !takes_ord(ord)) {
    return stock::linalg_vector_norm(x, ord, dims, keepdim, dtype);
  }
  return reduce(summand(x, dtype), summed_axes(x, dims), keepdim, norm_rule(ord));
}

at::Tensor& vector_norm_out(const at::Tensor& x,
                            const at::Scalar& ord,
                            at::OptionalIntArrayRef dims,
                            bool keepdim,
                            std::optional<at::ScalarType> dtype,
                            at::Tensor& out) {
  if (!takes_sum_out(x, dtype, out) || !takes_ord(ord)) {
    return stock::linalg_vector_norm_outf(x, ord, dims, keepdim, dtype, out);
  }
  return reduce_out(summand(x, dtype), summed_axes(x, dims), keepdim, norm_rule(ord), out);
}

at::Tensor prod(const at::Tensor& x, std::optional<at::ScalarType> dtype) {
  if (!takes_sum(x, dtype)) return stock::prod(x, dtype);
  return reduce(summand(x, dtype), summed_axes(x, {}), false, kProduct);
}

at::Tensor prod_dim(const at::Tensor& x,
                    std::int64_t dim,
                    bool keepdim,
                    std::optional<at::ScalarType> dtype) {
  if (!takes_sum(x, dtype)) return stock::prod(x, dim, keepdim, dtype);
  return reduce(summand(x, dtype), summed_axes(x, dim), keepdim, kProduct);
}

at::Tensor& prod_dim_out(const at::Tensor& x,
                         std::int64_t dim,
                         bool keepdim,
                         std::optional<at::ScalarType> dtype,
                         at::Tensor& out) {
  if (!takes_sum_out(x, dtype, out)) return stock::prod_outf(x, dim, keepdim, dtype, out);
  return reduce_out(summand(x, dtype), summed_axes(x, dim), keepdim, kProduct, out);
}

}  // namespace bic::libtorch_invariant
