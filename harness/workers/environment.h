#pragma once

#include <string>
#include <vector>

#include "adapters/protocol/messages.h"
#include "results_schema/report.h"

namespace bic {

/// Version of the suite: reports of different versions are not compared.
std::string suite_version();

/// SHA-256 of docs/kill_matrix.csv as it was when the program was built.
std::string kill_matrix_sha256();

/// Operating system, kernel, processor and the environment variables that can change a bit.
report::Environment describe_environment(int threads);

/// Backend, device, manifest, and the libraries it was loaded from with their SHA-256.
report::Subject describe_subject(const protocol::Hello& hello);

/// Now, in UTC: "2026-03-01T09:30:00Z". For people; no value depends on it.
std::string timestamp();

}  // namespace bic
