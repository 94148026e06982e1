#include "adapters/protocol/gather.h"

#include <algorithm>
#include <cstring>

#include "results_schema/axis.h"
#include "results_schema/error.h"
#include "results_schema/shape.h"

namespace bic::protocol {
namespace {

int find_batch_axis(const TensorMessage& t) {
  const auto at = std::find_if(t.axes.begin(), t.axes.end(), is_batch_axis);
  return at == t.axes.end() ? -1 : static_cast<int>(at - t.axes.begin());
}

/// Order in which the axes lie in memory, outermost first.
std::vector<int> memory_order(std::size_t rank, Storage storage) {
  std::vector<int> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<int>(i);
  if (storage == Storage::kTransposed && rank >= 2) std::swap(order[rank - 1], order[rank - 2]);
  if (storage == Storage::kOuterSwapped && rank >= 3) std::swap(order[0], order[1]);
  return order;
}

/// Copies `shape` elements between two strided places; the innermost run is one memcpy where both
/// sides are dense.
void copy_strided(std::span<const std::int64_t> shape,
                  std::span<const std::int64_t> from_strides,
                  const std::byte* from,
                  std::span<const std::int64_t> to_strides,
                  std::byte* to,
                  std::int64_t size) {
  if (shape.empty()) {
    std::memcpy(to, from, size);
    return;
  }
  const bool last = shape.size() == 1;
  if (last && from_strides[0] == 1 && to_strides[0] == 1) {
    std::memcpy(to, from, shape[0] * size);
    return;
  }
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    copy_strided(shape.subspan(1),
                 from_strides.subspan(1),
                 from + i * from_strides[0] * size,
                 to_strides.subspan(1),
                 to + i * to_strides[0] * size,
                 size);
  }
}

std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// The first 16 bits of -Inf, where the tensor masks, or of a quiet NaN.
std::uint64_t special_bits(DType dtype, bool masks) {
  if (dtype == DType::kFloat64) return masks ? 0xfff0 : 0x7ff8;
  if (dtype == DType::kFloat16) return masks ? 0xfc00 : 0x7e00;
  return masks ? 0xff80 : 0x7fc0;
}

/// The bytes of what padding appends; zeros where the elements have neither NaN nor Inf.
std::vector<std::byte> padding_bytes(const TensorMessage& t, bool nan) {
  std::vector<std::byte> bytes(element_size(t.elements));
  const auto dtype = parse_dtype(t.elements);
  if (!dtype || !(nan || t.masks)) return bytes;
  const std::uint64_t bits = special_bits(*dtype, t.masks) << (8 * (bytes.size() - 2));
  std::memcpy(bytes.data(), &bits, bytes.size());
  return bytes;
}

/// Fills every element of the tensor: what padding adds stays, the samples are copied over the
/// rest.
void fill_padding(const TensorPlan& plan,
                  const TensorMessage& t,
                  const TrialMessage& trial,
                  std::byte* first) {
  const std::int64_t size = element_size(t.elements);
  const std::vector<std::byte> fill = padding_bytes(t, trial.trial.pad_nan);
  const std::vector<std::int64_t> still(plan.shape.size(), 0);
  copy_strided(plan.shape, still, fill.data(), plan.strides, first, size);
}

}  // namespace

std::int64_t element_size(const std::string& elements) {
  if (const auto dtype = parse_dtype(elements)) return size_of(*dtype);
  if (elements == "int64") return 8;
  if (elements == "bool") return 1;
  throw HarnessError("protocol: unknown elements '" + elements + "'");
}

TensorPlan plan_tensor(const ProblemMessage& problem,
                       const TensorMessage& t,
                       const TrialMessage& trial) {
  Dims dims = problem.dims;
  if (trial.trial.pad > 0) dims[trial.trial.pad_dim] += trial.trial.pad;
  const auto batch = static_cast<std::int64_t>(trial.slots.size());
  TensorPlan plan;
  for (const std::string& axis : t.axes) plan.shape.push_back(axis_extent(axis, dims, batch));
  plan.strides.assign(plan.shape.size(), 1);
  const int batch_axis = find_batch_axis(t);
  // Rows of a concatenation cannot share memory by a stride.
  const bool expanded =
      trial.trial.storage == Storage::kExpanded && batch_axis >= 0 && t.axes[batch_axis] == "B";
  const std::vector<int> order = memory_order(plan.shape.size(), trial.trial.storage);
  std::int64_t next = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const int axis = order[i];
    plan.strides[axis] = expanded && axis == batch_axis ? 0 : next;
    if (plan.strides[axis] != 0) next *= std::max<std::int64_t>(1, plan.shape[axis]);
    if (i + 1 == order.size() && order.size() >= 2) next += trial.trial.row_gap;
  }
  plan.offset = trial.trial.offset;
  plan.storage_elements = plan.offset + next;
  return plan;
}

void gather(const ProblemMessage& problem,
            const TensorMessage& t,
            const TrialMessage& trial,
            std::span<const std::byte> pool,
            const TensorPlan& plan,
            std::byte* first) {
  const std::int64_t size = element_size(t.elements);
  std::vector<std::int64_t> block;
  for (const std::string& axis : t.axes) block.push_back(axis_extent(axis, problem.dims, 1));
  const std::vector<std::int64_t> dense = dense_strides(block);
  const int axis = find_batch_axis(t);
  if (trial.trial.pad > 0) fill_padding(plan, t, trial, first);
  const std::size_t copies = axis < 0 || plan.strides[axis] == 0 ? 1 : trial.slots.size();
  for (std::size_t slot = 0; slot < copies; ++slot) {
    const std::int64_t from = t.pool_offset + trial.slots[slot] * t.pool_stride;
    if (from < 0 || from + element_count(block) * size > static_cast<std::int64_t>(pool.size())) {
      throw HarnessError("protocol: tensor '" + t.name + "' lies outside the pool");
    }
    const std::int64_t at =
        axis < 0 ? 0 : static_cast<std::int64_t>(slot) * block[axis] * plan.strides[axis];
    copy_strided(block, dense, pool.data() + from, plan.strides, first + at * size, size);
  }
}

void copy_out(std::span<const std::int64_t> shape,
              std::span<const std::int64_t> strides,
              std::int64_t element_size,
              const std::byte* first,
              std::byte* out) {
  if (element_count(shape) == 0) return;
  const std::vector<std::int64_t> dense = dense_strides(shape);
  copy_strided(shape, strides, first, dense, out, element_size);
}

bool changed_between_elements(const TensorPlan& plan,
                              std::int64_t element_size,
                              std::span<const std::byte> before,
                              std::span<const std::byte> now) {
  if (before.size() != now.size()) return true;
  std::vector<std::byte> expected(before.begin(), before.end());
  const std::int64_t first = plan.offset * element_size;
  copy_strided(plan.shape,
               plan.strides,
               now.data() + first,
               plan.strides,
               expected.data() + first,
               element_size);
  return std::memcmp(expected.data(), now.data(), now.size()) != 0;
}

}  // namespace bic::protocol
