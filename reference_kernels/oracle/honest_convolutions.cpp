// Honest evaluations of convolutions: each output a sum in some order of the terms inside the
// image.
#include "reference_kernels/oracle/honest_op.h"
#include "reference_kernels/oracle/honest_sums.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

constexpr std::int64_t kChannels = 3, kFilters = 2, kOut = 3;

/// In one dimension; `taps` of them, padded by one zero at both ends.
template <class A>
std::vector<A> honest_convolution(Rng& rng, const Sample& s) {
  const std::int64_t taps = s.dims.at("kw"), in = kOut + taps - 1;
  std::vector<A> y;
  for (std::int64_t filter = 0; filter < kFilters; ++filter) {
    for (std::int64_t at = -1; at <= kOut; ++at) {
      std::vector<A> x, w;
      for (std::int64_t i = 0; i < kChannels * taps; ++i) {
        const std::int64_t place = at + i % taps;
        if (place < 0 || place >= in) continue;
        x.push_back(static_cast<A>(s.values[0][i / taps * in + place]));
        w.push_back(static_cast<A>(s.values[1][filter * kChannels * taps + i]));
      }
      const A bias = static_cast<A>(s.values[2][filter]);
      const bool first = rng() % 2 == 0;
      if (first) {
        x.insert(x.begin(), bias);
        w.insert(w.begin(), A{1});
      }
      const A sum = honest_dot<A>(rng, x, w);
      y.push_back(first ? sum : sum + bias);
    }
  }
  return y;
}

Sample draw_convolution(Rng& rng, DType t) {
  const std::int64_t taps = 1 + static_cast<std::int64_t>(rng() % 9);
  const Kind kind = draw_kind(rng);
  return {{draw_many(rng, kind, t, kChannels * (kOut + taps - 1)),
           draw_many(rng, kind, t, kFilters * kChannels * taps),
           draw_many(rng, draw_kind(rng), t, kFilters)},
          {{"c", kChannels}, {"n", kFilters}, {"kw", taps}, {"wo", kOut}},
          {{"stride", "1"}, {"padding", "1"}, {"dilation", "1"}, {"groups", "1"}}};
}

}  // namespace

std::vector<HonestOp> honest_convolutions() {
  return {{"convolution",
           convolution_reference(),
           {},
           draw_convolution,
           honest_convolution<float>,
           honest_convolution<double>}};
}

}  // namespace bic::testing_support
