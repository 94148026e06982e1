// Honest evaluations of attention: two passes, weights normalised first, and online in blocks.
#include <algorithm>

#include "reference_kernels/oracle/attention_cases.h"
#include "reference_kernels/oracle/honest_op.h"
#include "reference_kernels/oracle/honest_sums.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

/// exp, up to one ulp worse than libm's.
template <class A>
A worse_exp(Rng& rng, A x) {
  const A value = std::exp(x);
  const A ends[] = {value, std::nextafter(value, A{0}), std::nextafter(value, 2 * value)};
  return ends[rng() % 3];
}

/// What a row sees: z, and the seen values by column.
template <class A>
struct Seen {
  std::vector<A> z;
  std::vector<std::vector<A>> columns;
};

template <class A>
Seen<A> look(Rng& rng, const Sample& s, std::int64_t row) {
  const std::int64_t l = s.dims.at("l"), keys = s.dims.at("s"), e = s.dims.at("e");
  const std::vector<A> q = cast<A>(std::span(s.values[1]).subspan(row * e, e));
  const bool is_added = s.values.size() > 3 && s.attributes.at("mask") == "added";
  Seen<A> seen{{}, std::vector<std::vector<A>>(e)};
  for (std::int64_t j = 0; j < keys; ++j) {
    if (!sees(s, row % l, j)) continue;
    const std::int64_t key = (row / l / 2 * keys + j) * e;
    const std::vector<A> k = cast<A>(std::span(s.values[2]).subspan(key, e));
    A z = honest_dot<A>(rng, q, k) * static_cast<A>(1 / std::sqrt(static_cast<double>(e)));
    if (is_added) z += static_cast<A>(s.values[3][row % l * keys + j]);
    seen.z.push_back(z);
    for (std::int64_t c = 0; c < e; ++c) {
      seen.columns[c].push_back(static_cast<A>(s.values[0][key + c]));
    }
  }
  return seen;
}

template <class A>
std::vector<A> two_pass_row(Rng& rng, const Seen<A>& seen) {
  const A most = *std::max_element(seen.z.begin(), seen.z.end());
  std::vector<A> w = seen.z, y;
  for (A& v : w) v = worse_exp(rng, v - most);
  const A sum = honest_sum<A>(rng, w);
  const bool first = rng() % 2 == 0;  // weights are normalised
  if (first) {
    for (A& v : w) v /= sum;
  }
  for (const std::vector<A>& column : seen.columns) {
    const A all = honest_dot<A>(rng, w, column);
    y.push_back(first ? all : all / sum);
  }
  return y;
}

/// Blocks of 16 keys, each rescaling what is there to the maximum so far.
template <class A>
std::vector<A> online_row(Rng& rng, const Seen<A>& seen) {
  std::vector<A> y(seen.columns.size());
  A most = -std::numeric_limits<A>::infinity(), sum = 0;
  for (std::size_t first = 0; first < seen.z.size(); first += 16) {
    const std::size_t count = std::min<std::size_t>(16, seen.z.size() - first);
    std::vector<A> w(seen.z.begin() + first, seen.z.begin() + first + count);
    const A next = std::max(most, *std::max_element(w.begin(), w.end()));
    const A factor = first == 0 ? 0 : worse_exp(rng, most - next);
    most = next;
    for (A& v : w) v = worse_exp(rng, v - most);
    sum = sum * factor + honest_sum<A>(rng, w);
    for (std::size_t c = 0; c < y.size(); ++c) {
      y[c] = y[c] * factor +
             honest_dot<A>(rng, w, std::span<const A>(seen.columns[c]).subspan(first, count));
    }
  }
  for (A& v : y) v /= sum;
  return y;
}

template <class A>
std::vector<A> honest_attention(Rng& rng, const Sample& s, bool online) {
  std::vector<A> y;
  for (std::int64_t row = 0; row < 4 * s.dims.at("l"); ++row) {
    const Seen<A> seen = look<A>(rng, s, row);
    const std::vector<A> one = online ? online_row(rng, seen) : two_pass_row(rng, seen);
    y.insert(y.end(), one.begin(), one.end());
  }
  return y;
}

}  // namespace

std::vector<HonestOp> honest_attentions() {
  std::vector<HonestOp> all;
  for (const std::string mask : {"", "added", "bool", "causal"}) {
    for (const bool online : {false, true}) {
      all.push_back(
          {"attention" + (mask.empty() ? "" : "_" + mask) + (online ? "_online" : ""),
           attention_reference(),
           {},
           [mask](Rng& r, DType t) { return draw_attention(r, draw_kind(r), t, mask); },
           [online](Rng& r, const Sample& s) { return honest_attention<float>(r, s, online); },
           [online](Rng& r, const Sample& s) { return honest_attention<double>(r, s, online); }});
    }
  }
  return all;
}

}  // namespace bic::testing_support
