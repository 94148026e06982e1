#include <vector>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/dot_product.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"

namespace bic {
namespace {

/// One spatial axis.
struct Taps {
  std::int64_t taps = 1, stride = 1, padding = 0, dilation = 1;
  std::int64_t in = 1, out = 1;  ///< extents

  /// The input that tap `i` of output `o` sees, or -1 beside the image.
  std::int64_t input(std::int64_t o, std::int64_t i) const {
    const std::int64_t at = o * stride - padding + i * dilation;
    return at < in ? std::max<std::int64_t>(at, -1) : -1;
  }
};

/// What the names of dims and attributes say.
struct Geometry {
  std::int64_t channels, filters, groups;  ///< channels and filters of a group
  Taps h, w;
  bool channels_last;

  explicit Geometry(const Operands& operands) {
    const Dims& dims = operands.dims;
    const auto integer = [&](const char* name, std::int64_t otherwise) {
      const bool given = operands.attributes.contains(name);
      return given ? static_cast<std::int64_t>(real_attribute(operands.attributes, name))
                   : otherwise;
    };
    const bool patches = dims.contains("p");
    const auto axis = [&](const char* out, const char* taps) {
      Taps t;
      if (!dims.contains(out)) return t;
      t.taps = dims.at(taps);
      t.stride = patches ? t.taps : integer("stride", 1);
      t.padding = integer("padding", 0);
      t.dilation = integer("dilation", 1);
      t.in = t.stride * (dims.at(out) - 1) + t.dilation * (t.taps - 1) + 1;
      t.out = dims.at(out) + 2 * t.padding / t.stride;
      return t;
    };
    channels = dims.at(patches ? "rgb" : "c");
    filters = dims.at("n");
    groups = integer("groups", 1);
    h = axis("ho", patches ? "p" : "kh");
    w = axis("wo", patches ? "q" : "kw");
    channels_last = text_attribute(operands.attributes, "layout", "") == "channels_last";
  }

  std::int64_t terms() const { return channels * h.taps * w.taps; }

  /// Index into the sample's input, whose axes are channels, h, w or h, w, channels.
  std::int64_t input(std::int64_t channel, std::int64_t y, std::int64_t x) const {
    if (channels_last) return (y * w.in + x) * groups * channels + channel;
    return (channel * h.in + y) * w.in + x;
  }
};

class Convolution {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const Geometry geometry(operands);
    std::vector<double> seen(geometry.terms());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      y[i] = dot_of(operands, geometry, elements[i], seen).template evaluate<A>(order);
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const Geometry geometry(operands);
    std::vector<double> seen(geometry.terms());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      bound[i] = dot_of(operands, geometry, elements[i], seen).bound(analysis);
    }
  }

 private:
  /// `seen` is filled with the inputs of that output, channel by channel, zeros beside the image.
  static DotProduct dot_of(const Operands& operands,
                           const Geometry& g,
                           std::int64_t element,
                           std::vector<double>& seen) {
    const std::int64_t filter = element / (g.h.out * g.w.out);
    const std::int64_t y = element / g.w.out % g.h.out, x = element % g.w.out;
    const std::int64_t first = filter / g.filters * g.channels;
    std::size_t term = 0;
    for (std::int64_t c = 0; c < g.channels; ++c) {
      for (std::int64_t i = 0; i < g.h.taps; ++i) {
        for (std::int64_t j = 0; j < g.w.taps; ++j, ++term) {
          const std::int64_t at_y = g.h.input(y, i), at_x = g.w.input(x, j);
          const bool inside = at_y >= 0 && at_x >= 0;
          seen[term] = inside ? operands.values[0][g.input(first + c, at_y, at_x)] : 0;
        }
      }
    }
    return {.a = seen.data(),
            .b = operands.values[1].data() + filter * g.terms(),
            .k = g.terms(),
            .bias = operands.values.size() > 2 ? &operands.values[2][filter] : nullptr};
  }
};

}  // namespace

std::shared_ptr<const Reference> convolution_reference() {
  return std::make_shared<ReferenceOf<Convolution>>(Convolution());
}

}  // namespace bic
