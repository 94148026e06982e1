#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results_schema/decoder_row.h"
#include "results_schema/model_row.h"
#include "results_schema/vocabulary.h"
#include "results_schema/waiver_row.h"

/// The report as C++; report.schema.json is the same as a contract. JSON keys are the members'
/// names. There is no floating-point number in it: nanoseconds, parts per million and ulps are
/// integers.
namespace bic::report {

/// Version of the report and of the journal; a reader refuses any other (docs/versions.md).
inline constexpr std::int64_t kSchemaVersion = 1;

/// Planted faults that the suite saw, of those it was tested with before the run.
struct Detection {
  std::int64_t killed = 0;
  std::int64_t faults = 0;
};

/// An op that the user declared, from a file of --op-spec.
struct DeclaredOp {
  std::string op;
  std::string sha256;  ///< of the file's bytes
};

struct Suite {
  std::string name = "bi-conform";
  std::string version;
  std::vector<std::string> relations;   ///< names of the relations the suite knows
  std::string kill_matrix_sha256;       ///< of docs/kill_matrix.csv: what this version sees
  std::string program_sha256;           ///< of the program that judged; may be left out
  std::optional<Detection> detection;   ///< of a run with --selftest
  std::vector<DeclaredOp> declared;     ///< beside the registry's ops; may be left out
  std::optional<ModelWeights> weights;  ///< of a run with --weights
};

/// A shared object of the subject.
struct Library {
  std::string name;    ///< base name, without the path
  std::string sha256;  ///< 64 hex digits
  std::int64_t bytes = 0;
};

struct Subject {
  std::string backend;
  std::string device;
  std::string manifest = "{}";  ///< JSON text of the worker's manifest, in the report as JSON
  std::vector<Library> libraries;
  std::map<std::string, std::string> fingerprint;
};

struct Environment {
  std::string os;
  std::string kernel;
  std::string cpu;
  std::string isa;
  std::int64_t cores = 0;
  std::int64_t threads = 0;
  std::map<std::string, std::string> variables;  ///< environment variables that matter
};

/// The part of a plan that one run of several covered. Its unit is the row: an op in a dtype.
struct Shard {
  std::int64_t index = 1;  ///< 1 to `count`
  std::int64_t count = 1;
  std::string source;              ///< the flag or environment variables that gave it
  std::vector<std::int64_t> rows;  ///< of each row of `ops`, its place in the whole plan, from 0
};

/// One of the runs that a merged report was made from.
struct ShardRun {
  std::int64_t index = 1;
  std::int64_t count = 1;
  std::string command_line;
  std::string started;  ///< RFC 3339
  std::int64_t duration_ns = 0;
  Environment environment;
  std::map<std::string, std::string> fingerprint;
};

struct Run {
  Seed seed;
  std::string strength = "quick";  ///< quick, standard or exhaustive
  /// SHA-256 of what was planned, shards together: equal plans, equal text, on any machine, with
  /// any backend and number of jobs.
  std::string plan;
  Level target = Level::kSchedule;  ///< the level that was asked for
  std::string command_line;
  std::string started;  ///< RFC 3339
  std::int64_t duration_ns = 0;
  bool complete = false;
  bool filtered = false;
  std::string incomplete_reason;  ///< empty for a complete run
  std::string suite;              ///< the part of the suite that was asked for; empty: all of it
  std::string repro_flags;        ///< what `repro` is given beside a case and the backend's name
  std::optional<Shard> shard;     ///< empty: the whole plan
  /// Workers that something else ended (SIGKILL) and whose problem was run again for it; 0 may be
  /// left out.
  std::int64_t killed_workers = 0;
  /// The filters as typed, flag and value in turn: {"--op", "mm"}; may be left out.
  std::vector<std::string> filters;
};

/// One counter per status; in JSON an object with every status by name.
struct Counters {
  std::array<std::int64_t, kStatusCount> by_status{};
  std::int64_t& operator[](Status s) { return by_status[static_cast<std::size_t>(s)]; }
  std::int64_t operator[](Status s) const { return by_status[static_cast<std::size_t>(s)]; }
  std::int64_t sum() const;
  bool operator==(const Counters&) const = default;
};

/// In JSON one object: the counters and `planned`.
struct Totals {
  Counters cases;
  std::int64_t planned = 0;
};

struct Verdict {
  bool conforms = false;
  Level level = Level::kNone;
  std::string strength = "quick";
  bool certifiable = false;
  std::vector<std::string> why_not_certifiable;
  std::int64_t ops_covered = 0;
  std::int64_t ops_total = 0;
  int exit_code = 0;
  std::string text;  ///< one line for people
};

/// Number of problems by what proves them.
struct Problems {
  std::int64_t order = 0;
  std::int64_t tail = 0;
  std::int64_t value = 0;
  std::int64_t none = 0;
};

/// What one relation showed of one op and dtype.
struct RelationRow {
  std::string relation;
  bool required = false;
  std::int64_t counted_problems = 0;
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t vacuous = 0;
  std::int64_t skipped = 0;
  std::int64_t excused = 0;  ///< its waived cases; 0 may be left out
};

/// Speed of one op and dtype on one shape; medians of one call.
struct Throughput {
  std::int64_t backend_ns = 0;
  std::int64_t stock_ns = 0;
  std::int64_t ratio_ppm = 0;   ///< stock_ns / backend_ns: above 1,000,000 the backend is faster
  std::int64_t spread_ppm = 0;  ///< (slowest - fastest block) / median, of the backend
  std::string shape;
  std::string unit = "flops";   ///< what `work` counts: flops or bytes
  std::int64_t work = 0;        ///< useful work of one call
  bool digest_matches = false;  ///< the timed output has the bytes of the judged one
  /// stock / backend of each pair of neighbouring blocks, in order; may be left out.
  std::vector<std::int64_t> ratios_ppm;
  /// One call of the backend and of stock in each of these pairs of blocks; may be left out.
  std::vector<std::int64_t> backend_blocks_ns, stock_blocks_ns;
};

/// Result of one op and dtype.
struct OpRow {
  std::string op;
  DType dtype = DType::kFloat32;
  Level level = Level::kNone;
  Counters cases;
  std::optional<std::int64_t>
      worst_error_ppm;  ///< share of the bound; empty when none was measured
  std::string why;      ///< the first relation that failed or was not proved; empty when all were
  Problems problems;
  std::vector<RelationRow> relations;
  std::optional<Throughput> throughput;
};

/// What is known of a case that did not pass. Absent members are not written.
struct Detail {
  std::int64_t differing = 0;  ///< elements
  std::int64_t total = 0;      ///< elements compared
  std::optional<std::int64_t> first_index;
  std::string bits_a;  ///< of the first differing element, "0x3f1c"
  std::string bits_b;
  std::optional<std::int64_t> ulps;             ///< between them, saturating; empty when one is NaN
  std::optional<std::int64_t> starts_at_batch;  ///< smallest batch that shows it
  std::string message;
};

struct CaseResult {
  std::string case_name;  ///< canonical case string; key "case"
  Status status = Status::kError;
  std::vector<Reason> reasons;
  std::string digest;            ///< of the output's bytes, hex; empty when there was none
  std::string inputs;            ///< digest of the tested sample's inputs; may be left out
  std::optional<Detail> detail;  ///< of a case that did not pass
};

/// What one relation showed of a problem.
struct RelationOutcome {
  std::string relation;
  Status status = Status::kError;  ///< pass where the bytes that it compares are equal
};

/// A failure, made as small as it still fails: of one op, dtype, relation, status and first reason.
struct Failure {
  std::string found;        ///< case string of the first one, as it is among the cases
  CaseResult shrunk;        ///< the smallest one; the first where none smaller was found
  std::int64_t trials = 0;  ///< run to find it
  std::string note;         ///< why nothing smaller was looked for or kept; empty when it was
  /// The batch sizes that were tried on its problem, in classes of equal bits of its sample.
  std::vector<std::vector<std::int64_t>> classes;
  std::vector<RelationOutcome> relations;  ///< on its problem; empty when they were not tried
};

/// Numbers of problems.
struct Coverage {
  std::int64_t required = 0;
  std::int64_t executed = 0;
  std::int64_t counted = 0;  ///< whose agreement is evidence
  std::int64_t planned = 0;
};

/// What the controls showed under one law.
struct ControlRow {
  Law law = Law::kNormal;
  std::int64_t problems = 0;                    ///< whose bits the law is to prove
  std::int64_t vacuous = 0;                     ///< of them, those whose controls agreed
  std::int64_t compared = 0;                    ///< output elements of the telling samples
  std::map<std::string, std::int64_t> changed;  ///< of them, by control
};

/// The search for samples on which the controls differ.
struct Controls {
  std::int64_t searched = 0;
  std::int64_t drawn = 0;
  std::int64_t redrawn = 0;
  std::int64_t vacuous = 0;
  std::vector<ControlRow> laws;  ///< of the laws that were searched; may be left out
};

struct Report {
  std::int64_t schema_version = kSchemaVersion;
  Suite suite;
  Subject subject;
  std::optional<Subject> peer;  ///< the second backend, of a run with --against
  Environment environment;      ///< of the first shard, in a merged report
  Run run;
  std::vector<ShardRun> shards;  ///< of a merged report, ascending; may be left out
  Totals totals;
  Verdict verdict;
  std::vector<OpRow> ops;
  std::vector<CaseResult>
      cases;  ///< every case but those skipped or unsupported, which may be left out
  std::vector<Failure> failures;    ///< made small; may be left out
  std::vector<DecoderRow> decoder;  ///< not among the totals; may be left out
  std::vector<ModelRow> models;     ///< so too
  std::vector<WaiverRow> waivers;   ///< of a run with --waivers; may be left out
  Coverage coverage;
  Controls controls;
};

/// Canonical JSON of a report, one line with its newline. Checks it against the schema and itself
/// (`check_report`) first. Throws HarnessError: a report that breaks the contract is never written.
std::string write_report(const Report& report);

/// Reads what `write_report` wrote. `where` names the source in errors.
/// Throws UsageError when the text is not JSON, breaks the schema, or contradicts itself.
Report read_report(std::string_view text, std::string_view where = "report");

/// The same with a file, whose name appears in errors; written whole or not at all.
void save_report(const Report& report, const std::filesystem::path& path);
Report load_report(const std::filesystem::path& path);

}  // namespace bic::report
