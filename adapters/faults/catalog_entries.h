#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "adapters/faults/catalog.h"

/// What the catalog is put together from: the faults of each group, which is filled in later, and
/// the words that its entries share.
namespace bic::faults {

using Names = std::vector<std::string_view>;
using Entries = std::vector<Fault>;

/// A fault that only bits can show, looked for in fp32.
Fault by_bits(std::string_view name,
              std::string_view sentence,
              Names ops,
              Names relations,
              Status status = Status::kFail);

/// A fault that has another reason, looked for in fp32.
Fault by(Reason reason,
         std::string_view name,
         std::string_view sentence,
         Names ops,
         Names relations,
         Status status = Status::kFail);

/// A fault whose status says all.
Fault by(
    Status status, std::string_view name, std::string_view sentence, Names ops, Names relations);

/// `fault`, looked for in these dtypes instead.
Fault in(std::vector<DType> dtypes, Fault fault);

/// One list after the other.
Entries join(Entries first, Entries second);

/// One op or more of each kind that adds: products, a reduction, a softmax, a norm.
Names sums();
/// `sums()` and some more.
Names sums_and(std::initializer_list<std::string_view> more);
/// Every op whose order shows: what follows the batch is seen on each of them.
Names reductions();
Names contractions();
Names attention();

// Groups: where the order of a sum changes.
Entries split_faults();
Entries tail_faults();
Entries place_faults();
Entries layout_faults();
Entries thread_faults();
Entries form_faults();
Entries padding_faults();
Entries attention_faults();

// Groups: what a call keeps, or takes from others.
Entries leak_faults();
Entries state_faults();
Entries noise_faults();
Entries rng_faults();

// Groups: what comes out.
Entries precision_faults();
Entries formula_faults();
Entries special_value_faults();
Entries stale_faults();

// Groups: how a call behaves.
Entries bounds_faults();
Entries contract_faults();
Entries death_faults();

}  // namespace bic::faults
