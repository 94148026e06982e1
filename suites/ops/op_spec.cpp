#include "suites/ops/op_spec.h"

#include <algorithm>

#include "results_schema/axis.h"

namespace bic {
std::vector<std::int64_t> block_shape(const TensorSpec& t, const Dims& dims) {
  std::vector<std::int64_t> shape;
  for (const std::string& axis : t.axes) shape.push_back(axis_extent(axis, dims, 1));
  return shape;
}

int batch_axis(const TensorSpec& t) {
  const auto found = std::ranges::find_if(t.axes, is_batch_axis);
  return found == t.axes.end() ? -1 : static_cast<int>(found - t.axes.begin());
}

std::vector<int> reduced_axes(const TensorSpec& t, const Variant& variant) {
  std::vector<int> axes;
  for (std::size_t i = 0; i < t.axes.size(); ++i) {
    if (std::ranges::find(variant.reduced, t.axes[i]) != variant.reduced.end()) {
      axes.push_back(static_cast<int>(i));
    }
  }
  return axes;
}

std::string preset_name(const Variant& variant) {
  std::string name = variant.name;
  std::ranges::replace(name, '_', '-');
  return name;
}

bool mentions(const Variant& variant, std::string_view dim) {
  const auto in = [&](const TensorSpec& t) {
    return std::ranges::any_of(t.axes,
                               [&](const std::string& axis) { return axis_mentions(axis, dim); });
  };
  return in(variant.output) || std::ranges::any_of(variant.inputs, in);
}

const OpSpec* find_op(std::string_view name) {
  const auto found = std::ranges::find(registry(), name, &OpSpec::name);
  return found == registry().end() ? nullptr : &*found;
}

}  // namespace bic
