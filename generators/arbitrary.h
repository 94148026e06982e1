#pragma once

// RapidCheck generators of what a case is made of. Costs seconds to compile: for tests and for the
// few files that search. Every generator shrinks towards the plainest value of its kind.
#include <rapidcheck.h>

#include <cstdint>
#include <ostream>
#include <vector>

#include "generators/dims.h"
#include "results_schema/case_name.h"

namespace bic {

/// An extent in [lo, hi]: 1 (where allowed), primes, tile edges and powers of two, the sizes beside
/// them, and log-uniform ones, weighted 1 : 3 : 3 : 3 : 2. Does not depend on RapidCheck's size.
/// Shrinks towards lo. Throws UsageError unless 1 <= lo <= hi.
rc::Gen<std::int64_t> extent(std::int64_t lo, std::int64_t hi);

/// One extent for each range, by name, independent; each shrinks towards its lo.
rc::Gen<Dims> dims(const std::vector<DimRange>& ranges);

/// `base` in a batch: a size of `batch_sizes()` up to `largest` and a place of `positions`.
/// Shrinks towards the batch and position of `base`.
rc::Gen<Trial> with_batch(const Trial& base, std::int64_t largest);

/// `base` with offset 0..15, a row gap of 0, 1, 5, 8 or 16 elements and a storage; expanded storage
/// only where `base` stands among twins. Half of each are the default. Shrinks towards `base`.
rc::Gen<Trial> with_layout(const Trial& base);

/// `base` in one of `forms`, which holds at least one. Shrinks towards `base`.
rc::Gen<Trial> with_form(const Trial& base, const std::vector<Form>& forms);

/// `base` on 1, 2, 3, 4, 8 threads or twice the cores, or the default. Shrinks towards `base`.
rc::Gen<Trial> with_schedule(const Trial& base);

/// All of the above, independently.
rc::Gen<Trial> trial(const Trial& base, std::int64_t largest, const std::vector<Form>& forms);

/// How RapidCheck prints a counter-example: as it stands in a case's name.
inline void showValue(const Trial& trial, std::ostream& os) { os << to_string(trial); }

}  // namespace bic
