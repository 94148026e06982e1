#include "adapters/libtorch/declared_problem.h"

#include "suites/ops/input_values.h"

namespace bic::libtorch {

protocol::ProblemMessage declared_problem(
    const OpSpec& op, const Variant& variant, DType dtype, const Dims& dims, std::int64_t samples) {
  protocol::ProblemMessage m{.op = op.name,
                             .variant = variant.name,
                             .dtype = dtype,
                             .dims = dims,
                             .attributes = variant.attributes,
                             .calls = variant.forms,
                             .reduced = variant.reduced};
  m.calls["functional"] = variant.call;
  for (const TensorSpec& t : variant.inputs) {
    std::int64_t block = element_size(t, dtype);
    for (std::int64_t extent : block_shape(t, dims)) block *= extent;
    const bool common = batch_axis(t) < 0;
    m.inputs.push_back({.name = t.name,
                        .axes = t.axes,
                        .elements = element_name(t, dtype),
                        .pool_offset = m.pool_bytes,
                        .pool_stride = common ? 0 : block});
    m.pool_bytes += common ? block : samples * block;
  }
  m.output = {.name = variant.output.name,
              .axes = variant.output.axes,
              .elements = std::string(name(variant.output_dtype.value_or(dtype)))};
  return m;
}

}  // namespace bic::libtorch
