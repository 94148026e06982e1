#pragma once

#include <string>

#include "harness/workers/worker.h"

namespace bic {

/// Prints the names of one kind with a sentence each: ops, relations, laws, backends.
/// Throws UsageError for another kind.
int list(const std::string& what);

/// Prints docs/ops.md, with what the two backends declare of their arithmetic.
int print_ops_page(const WorkerLaunch& stock, const WorkerLaunch& bundled);

/// Prints a backend's manifest: op, dtypes, own overloads or why stock serves it, arithmetic; and
/// the seed that a run of it takes for a nonce (docs/signing.md), unless that is empty.
int support(const WorkerLaunch& backend, const std::string& nonce);

/// Prints what a word of the reports means. Throws UsageError when the suite has no such word.
int explain(const std::string& word);

}  // namespace bic
