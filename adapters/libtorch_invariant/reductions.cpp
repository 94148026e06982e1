#include "adapters/libtorch_invariant/reductions.h"

#include <algorithm>

#include "adapters/libtorch_invariant/binding.h"

#include BIC_KERNELS(sum)

namespace bic::libtorch_invariant {
namespace {

/// Axes [first, last) of `x` as at most `most` walks, slowest first; empty when they are more.
std::vector<Walk> collapse(const at::Tensor& x,
                           std::int64_t first,
                           std::int64_t last,
                           std::size_t most) {
  std::vector<Walk> walks;
  for (std::int64_t i = first; i < last; ++i) {
    if (x.size(i) == 1) continue;
    if (!walks.empty() && walks.back().stride == x.size(i) * x.stride(i)) {
      walks.back() = {walks.back().extent * x.size(i), x.stride(i)};
    } else {
      walks.push_back({x.size(i), x.stride(i)});
    }
  }
  if (walks.empty()) walks.push_back({});
  if (walks.size() > most) walks.clear();
  return walks;
}

}  // namespace

View view_around(const at::Tensor& x, std::int64_t first, std::int64_t last, std::size_t most) {
  const auto outer = collapse(x, 0, first, 1);
  const auto reduced = collapse(x, first, last, most);
  const auto inner = collapse(x, last, x.dim(), 1);
  if (outer.empty() || reduced.empty() || inner.empty()) {
    return view_around(x.contiguous(), first, last, most);
  }
  const Walk slow = reduced.size() == 2 ? reduced[0] : Walk{};
  return {x, outer[0], slow, reduced.back(), inner[0]};
}

std::vector<bool> summed_axes(const at::Tensor& x, at::OptionalIntArrayRef dims) {
  std::vector<bool> summed(x.dim(), !dims || dims->empty());
  if (!dims) return summed;
  for (std::int64_t dim : *dims) {
    const std::int64_t axis = c10::maybe_wrap_dim(dim, x.dim());
    if (axis < x.dim()) summed[axis] = true;
  }
  return summed;
}

Shape sum_shape(const at::Tensor& x, const std::vector<bool>& summed, bool keepdim) {
  Shape shape;
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    if (!summed[i]) shape.push_back(x.size(i));
    if (summed[i] && keepdim) shape.push_back(1);
  }
  return shape;
}

std::int64_t terms_of(const at::Tensor& x, const std::vector<bool>& summed) {
  std::int64_t terms = 1;
  for (std::int64_t i = 0; i < x.dim(); ++i) terms *= summed[i] ? x.size(i) : 1;
  return terms;
}

View view_of_sum(const at::Tensor& x, const std::vector<bool>& summed, std::size_t most) {
  const auto begin = summed.begin();
  const auto first = std::find(begin, summed.end(), true);
  const auto last = std::find(first, summed.end(), false);
  if (std::find(last, summed.end(), true) == summed.end()) {
    return view_around(x, first - begin, last - begin, most);
  }
  Shape order, behind;
  for (std::int64_t i = 0; i < x.dim(); ++i) (summed[i] ? behind : order).push_back(i);
  const auto kept = static_cast<std::int64_t>(order.size());
  order.insert(order.end(), behind.begin(), behind.end());
  return view_around(x.permute(order), kept, x.dim(), most);
}

void sum_into(const at::Tensor& x,
              const std::vector<bool>& summed,
              const SumRule& rule,
              const at::Tensor& y,
              const at::Tensor& mean) {
  const View view = view_of_sum(x, summed, 2);
  with_type(x.scalar_type(), [&]<class T>(std::type_identity<T>) {
    cpu::SumArgs<T> args;
    args.x = input<T>(view.x);
    args.y = output<T>(y);
    args.outer = view.outer.extent, args.x_outer = view.outer.stride;
    args.slow = view.slow.extent, args.x_slow = view.slow.stride;
    args.reduced = view.reduced.extent, args.x_reduced = view.reduced.stride;
    args.inner = view.inner.extent, args.x_inner = view.inner.stride;
    args.y_outer = args.inner;
    args.of = rule.of, args.divisor = rule.divisor, args.root = rule.root;
    args.mean = mean.defined() ? output<T>(mean) : nullptr;
    kernels::sum<T>(args, launch_for(y));
  });
}

bool takes_sum(const at::Tensor& x, std::optional<at::ScalarType> dtype) {
  return served(x.scalar_type()) && served(dtype.value_or(x.scalar_type()));
}

bool takes_sum_out(const at::Tensor& x,
                   std::optional<at::ScalarType> dtype,
                   const at::Tensor& out) {
  return takes_sum(x, dtype) && takes_out(x, dtype, out);
}

at::Tensor summand(const at::Tensor& x, std::optional<at::ScalarType> dtype) {
  return x.to(dtype.value_or(x.scalar_type()));
}

}  // namespace bic::libtorch_invariant
