#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "reference_kernels/cpu/sum.h"

namespace bic::libtorch_invariant {

using Shape = std::vector<std::int64_t>;

/// Some adjacent axes walked as one.
struct Walk {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
};

/// A tensor as outer, reduced and inner axes.
struct View {
  at::Tensor x;  ///< a copy where the strides do not collapse
  Walk outer, slow, reduced, inner;
};

/// The axes [first, last) of `x` as the reduced ones, walked as at most `most` (1 or 2).
View view_around(const at::Tensor& x, std::int64_t first, std::int64_t last, std::size_t most);

/// Which axes are summed: all of them for none given, as ATen has it.
std::vector<bool> summed_axes(const at::Tensor& x, at::OptionalIntArrayRef dims);
Shape sum_shape(const at::Tensor& x, const std::vector<bool>& summed, bool keepdim);
/// The summed axes put side by side, in their order, which is the order of the sum.
View view_of_sum(const at::Tensor& x, const std::vector<bool>& summed, std::size_t most);
/// Terms of one sum.
std::int64_t terms_of(const at::Tensor& x, const std::vector<bool>& summed);

/// What is done to a sum, as in reference_kernels/cpu/sum.h.
struct SumRule {
  cpu::SumOf of = cpu::SumOf::kTerms;
  double divisor = 1;
  bool root = false;
};

/// Writes the sums, in their row-major order, to `y`; of deviations also the means, to `mean`.
void sum_into(const at::Tensor& x,
              const std::vector<bool>& summed,
              const SumRule& rule,
              const at::Tensor& y,
              const at::Tensor& mean = {});

/// Whether the kernels sum `x` as that type; and whether they may write such sums to `out`.
bool takes_sum(const at::Tensor& x, std::optional<at::ScalarType> dtype);
bool takes_sum_out(const at::Tensor& x, std::optional<at::ScalarType> dtype, const at::Tensor& out);

/// The input as the type that is summed; stock converts first too.
at::Tensor summand(const at::Tensor& x, std::optional<at::ScalarType> dtype);

}  // namespace bic::libtorch_invariant
