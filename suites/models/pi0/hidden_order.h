#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

#include "suites/models/pi0/config.h"

namespace bic::pi0 {

/// How the hidden units of a model stand: those of its streams and MLPs and the dims of attention
/// heads, or of a model of many layers those of the first MLPs. A model with permuted units is the
/// same function, summed in another order.
enum class HiddenOrder {
  kStored,
  kReversed,
  kHalves,   ///< first of one half, first of the other, second of the one, …
  kLanes16,  ///< every sixteenth from the first on, then from the second on, …
};

/// The inverse of their names "stored", "reversed", "halves", "lanes16". Throws UsageError.
HiddenOrder parse_hidden_order(std::string_view name);

/// The weight of that name with its units in `order`, or rows of an embedding; itself where it has
/// none. Each call copies.
at::Tensor reordered(const Config& config,
                     std::string_view name,
                     const at::Tensor& weight,
                     HiddenOrder order);

/// The frequencies of the rotary embedding of a head whose dims are in `order`.
at::Tensor reordered(const Config& config, const at::Tensor& frequencies, HiddenOrder order);

}  // namespace bic::pi0
