#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "results_schema/vocabulary.h"

namespace bic {

// The text of one axis of a tensor: a dim ("k"), a number ("8"), a linear expression of them
// ("2*ho+kh-2"), the batch ("B": one index a sample) or rows times batch ("t*B", "8*B": that many
// consecutive indices a sample).

/// Whether the axis grows with the batch.
bool is_batch_axis(std::string_view axis);

/// Its extent in a batch of that many samples. Throws HarnessError when the text is malformed,
/// names a dim that is not there, or comes to less than 1.
std::int64_t axis_extent(std::string_view axis, const Dims& dims, std::int64_t batch);

/// Whether the extent depends on the dim.
bool axis_mentions(std::string_view axis, std::string_view dim);

}  // namespace bic
