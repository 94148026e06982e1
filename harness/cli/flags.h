#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "results_schema/vocabulary.h"

namespace bic {

using Arguments = std::vector<std::string>;

/// The program: where it lies, and what a person types to run it.
struct Program {
  std::string path;
  std::string typed;
};

/// Parses. Throws UsageError for an unknown flag, naming the nearest one, and for an empty value.
void parse(CLI::App& app, Arguments arguments);

/// "30s", "500ms", "2m" or a number of seconds. Throws UsageError that names the flag.
std::chrono::milliseconds duration(const std::string& flag, const std::string& text);

/// "500MB", "4GiB" or a number of bytes. Throws UsageError that names the flag, also for less than
/// a megabyte, which no process gets by with.
std::int64_t byte_count(const std::string& flag, const std::string& text);

/// The value of --seed. Throws UsageError when it is not hexadecimal.
Seed seed_flag(const std::string& text);

/// The value of --jobs; the cores, at most 4, when it is empty. Throws UsageError.
int job_count(const std::string& text);

/// `bi-conform keygen`, `sign`, `verify`, `prove`, `certify` and `badge`.
int keygen_verb(const Program& program, const Arguments& arguments);
int sign_verb(const Program& program, const Arguments& arguments);
int verify_verb(const Program& program, const Arguments& arguments);
int prove_verb(const Program& program, const Arguments& arguments);
int certify_verb(const Program& program, const Arguments& arguments);
int badge_verb(const Program& program, const Arguments& arguments);

/// `bi-conform run`, which needs not be named.
int run_verb(const Program& program, const Arguments& arguments);

/// `bi-conform diff`, `gate` and `render`.
int diff_verb(const Program& program, const Arguments& arguments);
int gate_verb(const Program& program, const Arguments& arguments);
int render_verb(const Program& program, const Arguments& arguments);

/// `bi-conform merge`.
int merge_verb(const Program& program, const Arguments& arguments);

/// `bi-conform perf`.
int perf_verb(const Program& program, const Arguments& arguments);

/// `bi-conform trace`.
int trace_verb(const Program& program, const Arguments& arguments);

/// `bi-conform selftest`.
int selftest_verb(const Program& program, const Arguments& arguments);

}  // namespace bic
