#include <cmath>
#include <limits>
#include <vector>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"
#include "reference_kernels/oracle/wide_math.h"

namespace bic {
namespace {

using std::sqrt;  // beside sqrt(DoubleDouble)

enum Operand : std::size_t { kValue, kQuery, kKey, kMask };

enum class Mask : std::uint8_t { kNone, kAdded, kBool, kCausal };

/// One sample: heads of l queries against heads / group heads of s keys.
struct Shape {
  std::int64_t l, s, e, group;
  Mask mask;
};

/// What one query row sees.
struct Row {
  const double* query;
  const double* keys;
  const double* values;
  const double* mask;    ///< null where there is none
  std::int64_t visible;  ///< keys before the causal diagonal
  Mask kind;

  /// A masked key has weight 0, whatever it and its value hold.
  bool sees(std::int64_t key) const {
    if (key >= visible) return false;
    if (kind == Mask::kBool) return mask[key] != 0;
    return kind != Mask::kAdded || mask[key] != -std::numeric_limits<double>::infinity();
  }
};

Shape shape_of(const Operands& o) {
  const Dims& d = o.dims;
  const std::string kind = text_attribute(o.attributes, "mask", "none");
  Shape g{.l = 1, .s = d.at("s"), .e = d.at("e"), .group = 1, .mask = Mask::kNone};
  if (kind == "causal") g.l = g.s, g.mask = Mask::kCausal;
  if (kind == "bool") g.mask = Mask::kBool;
  if (kind == "added") g.mask = Mask::kAdded;
  if (const auto l = d.find("l"); l != d.end()) g.l = l->second;
  const auto count = [&](Operand i) { return static_cast<std::int64_t>(o.values[i].size()); };
  g.group = count(kQuery) / g.l / (count(kKey) / g.s);
  return g;
}

Row row_of(const Operands& o, const Shape& g, std::int64_t row) {
  const std::int64_t first = row / g.l / g.group * g.s * g.e, i = row % g.l;
  return {.query = o.values[kQuery].data() + row * g.e,
          .keys = o.values[kKey].data() + first,
          .values = o.values[kValue].data() + first,
          .mask = o.values.size() > kMask ? o.values[kMask].data() + i * g.s : nullptr,
          .visible = g.mask == Mask::kCausal ? i + 1 : g.s,
          .kind = g.mask};
}

/// The larger, NaN if one is.
template <class A>
A larger(A a, A b) {
  return b > a || b != b ? b : a;
}
template <>
DoubleDouble larger(DoubleDouble a, DoubleDouble b) {
  return b > a || b.hi != b.hi ? b : a;
}

/// Weights not yet divided by their sum.
template <class A>
struct Weights {
  std::vector<A> of;
  A sum;
};

class Attention {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const Shape g = shape_of(operands);
    std::int64_t current = -1;
    Weights<A> weights;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Row row = row_of(operands, g, elements[i] / g.e);
      if (elements[i] / g.e != current) weights = weights_of<A>(operands, g, row, order);
      current = elements[i] / g.e;
      const double* column = row.values + elements[i] % g.e;
      const A sum = sum_in_order<A>(order, g.s, [&](std::int64_t key) {
        return row.sees(key) ? weights.of[key] * static_cast<A>(column[key * g.e]) : A{};
      });
      y[i] = sum / weights.sum;
    }
  }

  /// Any order of the three sums (Higham 3.1, 4.2), weights normalised before or after the last.
  /// An online softmax, which rescales what it has at each new maximum, is within it as well: a
  /// rescaling costs a term some ten roundings, and a block of that many keys saves them, for its
  /// terms do not pass through the additions of other blocks.
  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const bool rounds = analysis.form({"", "round-weights"}) == "round-weights";
    const Shape g = shape_of(operands);
    std::int64_t current = -1;
    Weights<Approx> weights;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Row row = row_of(operands, g, elements[i] / g.e);
      if (elements[i] / g.e != current) weights = weights_within(operands, g, row, analysis);
      current = elements[i] / g.e;
      const double* column = row.values + elements[i] % g.e;
      Approx all;
      double size = 0;
      for (std::int64_t key = 0; key < g.s; ++key) {
        if (!row.sees(key)) continue;
        const Approx w = rounds ? analysis.to_subject(weights.of[key]) : weights.of[key];
        const double v = column[key * g.e];
        all.value += w.value * v;
        all.error += std::fabs(v) * w.error + analysis.underflow();
        size += std::fabs(w.value * v);
      }
      const Approx sum = analysis.sum(all.value, size, all.error, row.visible + 1, row.visible);
      bound[i] = analysis.output(analysis.div(sum, weights.sum));
    }
  }

 private:
  template <class A>
  static A scale_of(const Operands& o, const Shape& g) {
    if (o.attributes.contains("scale"))
      return static_cast<A>(real_attribute(o.attributes, "scale"));
    return static_cast<A>(1.0) / sqrt(static_cast<A>(static_cast<double>(g.e)));
  }

  template <class A>
  static Weights<A> weights_of(const Operands& o, const Shape& g, const Row& row, Order order) {
    const A scale = scale_of<A>(o, g);
    Weights<A> w{std::vector<A>(g.s), A{}};
    A largest = static_cast<A>(-std::numeric_limits<double>::infinity());
    for (std::int64_t key = 0; key < g.s; ++key) {
      if (!row.sees(key)) continue;
      const double* k = row.keys + key * g.e;
      const A dot = sum_in_order<A>(order, g.e, [&](std::int64_t e) {
        return static_cast<A>(row.query[e]) * static_cast<A>(k[e]);
      });
      w.of[key] = dot * scale;
      if (row.kind == Mask::kAdded) w.of[key] += static_cast<A>(row.mask[key]);
      largest = larger(largest, w.of[key]);
    }
    for (std::int64_t key = 0; key < g.s; ++key) {
      if (row.sees(key)) w.of[key] = wide_exp(w.of[key] - largest);
    }
    w.sum = sum_in_order<A>(order, g.s, [&](std::int64_t key) { return w.of[key]; });
    return w;
  }

  static Approx logit(const Operands& o,
                      const Shape& g,
                      const Row& row,
                      std::int64_t key,
                      const ErrorAnalysis& analysis) {
    const double* k = row.keys + key * g.e;
    const auto term = [&](std::int64_t e) { return row.query[e] * k[e]; };
    const double value = sum_lanes<double>(g.e, term);
    const double size = sum_lanes<double>(g.e, [&](std::int64_t e) { return std::fabs(term(e)); });
    const double underflow = analysis.underflow() * static_cast<double>(g.e);
    const double scale = scale_of<double>(o, g);
    const Approx x = analysis.mul(analysis.sum(value, size, underflow, g.e, g.e),
                                  {scale, analysis.gamma(2) * scale});
    return row.kind == Mask::kAdded ? analysis.add(x, {row.mask[key], 0}) : x;
  }

  /// The maximum that is subtracted need not be the true one: it cancels in the quotient.
  static Weights<Approx> weights_within(const Operands& o,
                                        const Shape& g,
                                        const Row& row,
                                        const ErrorAnalysis& analysis) {
    Weights<Approx> w{std::vector<Approx>(g.s), {}};
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t key = 0; key < g.s; ++key) {
      if (!row.sees(key)) continue;
      w.of[key] = logit(o, g, row, key, analysis);
      largest = larger(largest, w.of[key].value);
    }
    Approx all;
    for (std::int64_t key = 0; key < g.s; ++key) {
      if (!row.sees(key)) continue;
      const Approx d = analysis.sub(w.of[key], {largest, 0});
      w.of[key] = analysis.function(wide_exp(d.value), wide_exp(d.value + d.error), d);
      all.value += w.of[key].value;
      all.error += w.of[key].error;
    }
    w.sum = analysis.sum(all.value, all.value, all.error, row.visible - 1, row.visible);
    return w;
  }
};

}  // namespace

std::shared_ptr<const Reference> attention_reference() {
  return std::make_shared<ReferenceOf<Attention>>(Attention());
}

}  // namespace bic
