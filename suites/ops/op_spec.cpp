#include "suites/ops/op_spec.h"

#include <algorithm>
#include <charconv>

#include "results_schema/error.h"

namespace bic {
namespace {

/// "t*B" grows with the batch by t, "B" by 1.
bool is_batch(std::string_view axis) { return axis == "B" || axis.ends_with("*B"); }

std::int64_t extent(const std::string& name, const Dims& dims) {
  if (const auto dim = dims.find(name); dim != dims.end()) return dim->second;
  std::int64_t number = 0;
  const char* last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data(), last, number);
  if (error != std::errc() || end != last || number < 1) {
    throw HarnessError("axis '" + name + "' is neither a dim of the problem nor a number");
  }
  return number;
}

}  // namespace

std::vector<std::int64_t> block_shape(const TensorSpec& t, const Dims& dims) {
  std::vector<std::int64_t> shape;
  for (const std::string& axis : t.axes) {
    if (axis == "B") {
      shape.push_back(1);
    } else {
      shape.push_back(extent(is_batch(axis) ? axis.substr(0, axis.size() - 2) : axis, dims));
    }
  }
  return shape;
}

int batch_axis(const TensorSpec& t) {
  const auto found = std::ranges::find_if(t.axes, is_batch);
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

const OpSpec* find_op(std::string_view name) {
  const auto found = std::ranges::find(registry(), name, &OpSpec::name);
  return found == registry().end() ? nullptr : &*found;
}

}  // namespace bic
