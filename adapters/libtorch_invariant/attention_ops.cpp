#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention_native.h>

#include <cmath>

#include "adapters/libtorch_invariant/binding.h"
#include "adapters/libtorch_invariant/ops.h"
#include "reference_kernels/cpu/attention.h"

#include BIC_KERNELS(attention)

namespace bic::libtorch_invariant {
namespace {

bool is_given(const std::optional<at::Tensor>& mask) { return mask && mask->defined(); }

/// Heads and their sizes fit and are not broadcast; ATen's errors and rare cases stay ATen's.
bool takes_heads(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool grouped) {
  const std::int64_t rank = q.dim();
  if ((rank != 3 && rank != 4) || k.dim() != rank || v.dim() != rank) return false;
  if (k.size(0) != q.size(0) || v.size(0) != q.size(0)) return false;
  if (k.size(-1) != q.size(-1) || v.size(-2) != k.size(-2)) return false;
  if (rank == 3) return !grouped;
  if (k.size(1) != v.size(1)) return false;
  if (!grouped) return k.size(1) == q.size(1);
  return k.size(1) > 0 && q.size(1) % k.size(1) == 0;
}

bool takes_mask(const at::Tensor& q, const std::optional<at::Tensor>& mask, bool is_causal) {
  if (!is_given(mask)) return true;
  const auto type = mask->scalar_type();
  return !is_causal && mask->device() == q.device() && mask->dim() >= 2 && mask->dim() <= q.dim() &&
         (type == at::kBool || type == at::kFloat || type == q.scalar_type());
}

bool takes_attention(const at::Tensor& q,
                     const at::Tensor& k,
                     const at::Tensor& v,
                     const std::optional<at::Tensor>& mask,
                     double dropout,
                     bool is_causal,
                     bool grouped) {
  return served(q.scalar_type()) && alike(k, q) && alike(v, q) && dropout == 0 && q.size(-1) > 0 &&
         takes_heads(q, k, v, grouped) && takes_mask(q, mask, is_causal);
}

cpu::HeadStrides strides_of(const at::Tensor& t) {
  return {t.stride(0), t.stride(1), t.stride(2), t.stride(3)};
}

/// The mask seen as [batch, heads, l, s], its columns side by side.
at::Tensor spread(at::Tensor mask, bool has_heads, at::IntArrayRef shape) {
  if (!has_heads && mask.dim() == 3) mask = mask.unsqueeze(1);
  if (mask.size(-1) != shape[3]) mask = mask.expand(shape);
  return (mask.stride(-1) == 1 ? mask : mask.contiguous()).expand(shape);
}

template <class T>
void run_attention(const at::Tensor& q,
                   const at::Tensor& k,
                   const at::Tensor& v,
                   const at::Tensor& mask,
                   const at::Tensor& y,
                   bool is_causal,
                   double scale) {
  cpu::AttentionArgs<T> args;
  args.q = input<T>(q), args.q_at = strides_of(q);
  args.k = input<T>(k), args.k_at = strides_of(k);
  args.v = input<T>(v), args.v_at = strides_of(v);
  args.y = output<T>(y), args.y_at = strides_of(y);
  if (mask.defined()) {
    args.mask_at = strides_of(mask);
    if (mask.scalar_type() == at::kBool) {
      args.seen = input<bool>(mask);
    } else {
      args.added = input<typename cpu::AttentionArgs<T>::Sum>(mask);
    }
  }
  args.causal = is_causal;
  args.batch = q.size(0), args.heads = q.size(1), args.key_heads = k.size(1);
  args.l = q.size(2), args.s = k.size(2), args.e = q.size(3), args.ev = v.size(3);
  args.scale = scale;
  kernels::attention<T>(args, launch_for(y));
}

at::Tensor attend(const at::Tensor& q,
                  const at::Tensor& k,
                  const at::Tensor& v,
                  const at::Tensor& mask,
                  bool is_causal,
                  double scale) {
  // ATen's layout: rows of all heads together, as the projection that follows wants them.
  const at::Tensor y =
      at::empty({q.size(0), q.size(2), q.size(1), v.size(3)}, q.options()).transpose(1, 2);
  with_type(q.scalar_type(), [&]<class T>(std::type_identity<T>) {
    run_attention<T>(q, k, v, mask, y, is_causal, scale);
  });
  return y;
}

}  // namespace

at::Tensor scaled_dot_product_attention(const at::Tensor& q,
                                        const at::Tensor& k,
                                        const at::Tensor& v,
                                        const std::optional<at::Tensor>& mask,
                                        double dropout,
                                        bool is_causal,
                                        std::optional<double> scale,
                                        bool grouped) {
  if (!takes_attention(q, k, v, mask, dropout, is_causal, grouped)) {
    return at::native::scaled_dot_product_attention(
        q, k, v, mask, dropout, is_causal, scale, grouped);
  }
  const bool has_heads = q.dim() == 4;
  const auto with_heads = [&](const at::Tensor& t) { return has_heads ? t : t.unsqueeze(1); };
  const at::Tensor queries = with_heads(q), keys = with_heads(k);
  at::Tensor wide;
  if (is_given(mask)) {
    const bool is_bool = mask->scalar_type() == at::kBool;
    const auto sums = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    wide = spread(is_bool ? *mask : mask->to(sums),
                  has_heads,
                  {queries.size(0), queries.size(1), queries.size(2), keys.size(2)});
  }
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1))));
  const at::Tensor y = attend(queries, keys, with_heads(v), wide, is_causal, factor);
  return has_heads ? y : y.squeeze(1);
}

}  // namespace bic::libtorch_invariant
