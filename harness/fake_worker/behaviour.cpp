#include "harness/fake_worker/behaviour.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "adapters/protocol/gather.h"
#include "generators/laws.h"
#include "harness/fake_worker/other_sums.h"

namespace bic::fake {
namespace {

using protocol::TrialReply;
using Output = std::span<std::byte>;

bool all_twins(const Call& c) {
  return c.batch() > 1 && std::ranges::count(c.trial.slots, c.trial.slots[0]) == c.batch();
}

/// Whether a sample stands in the batch that no set of usual neighbours (48, with at most eight
/// telling samples before them in the pool) can hold.
bool has_strangers(const Call& c) { return std::ranges::max(c.trial.slots) >= 56; }

// One behaviour for each relation, which no other relation can see.
constexpr Behaviour kSeenByOneRelation[] = {
    {.name = "by-repetition",
     .otherwise = [](const Call& c, auto) { return c.seen_before && c.batch() == 1; }},
    {.name = "by-first-sight", .otherwise = [](const Call& c, auto) { return c.first_batch > 1; }},
    {.name = "by-batch-unless-twins",
     .otherwise = [](const Call& c, auto) { return c.batch() >= 8 && !all_twins(c); }},
    {.name = "by-copy",
     .otherwise = [](const Call& c, std::int64_t at) { return all_twins(c) && at > 0; }},
    {.name = "by-permutation", .otherwise = [](const Call& c, auto) { return c.seen_reordered; }},
    {.name = "by-neighbours", .otherwise = [](const Call& c, auto) { return has_strangers(c); }},
    {.name = "by-strides",
     .otherwise =
         [](const Call& c, auto) {
           return c.trial.trial.row_gap > 0 || c.trial.trial.storage == Storage::kTransposed;
         }},
    {.name = "by-form",
     .otherwise = [](const Call& c, auto) { return writes_given(c.trial.trial.form); }},
    {.name = "by-chunk",
     .otherwise = [](const Call& c, auto) { return c.trial.trial.form == Form::kChunk; }},
    {.name = "by-rank",
     .otherwise = [](const Call& c, auto) { return c.trial.trial.form == Form::kVector; }},
    {.name = "by-threads", .otherwise = [](const Call& c, auto) { return c.trial.threads > 2; }},
    {.name = "by-padding", .otherwise = [](const Call& c, auto) { return c.trial.trial.pad > 0; }},
    {.name = "by-nan-padding",
     .otherwise = [](const Call& c, auto) { return c.trial.trial.pad_nan; }},
};

constexpr Behaviour kOtherBits[] = {
    {.name = "honest"},
    {.name = "pairwise", .evaluate = pairwise_sums},
    {.name = "compensated", .evaluate = compensated_sums},
    {.name = "by-batch", .otherwise = [](const Call& c, auto) { return c.batch() >= 8; }},
    {.name = "by-batch-once-warm",
     .otherwise = [](const Call& c, auto) { return c.calls >= 4 && c.batch() >= 8; }},
    {.name = "noisy", .otherwise = [](const Call& c, auto) { return c.calls % 3 == 2; }},
    {.name = "last-position",
     .otherwise = [](const Call& c, std::int64_t at) { return at > 0 && at == c.batch() - 1; }},
    {.name = "inaccurate", .drops_last_term = true},
    {.name = "only-sum", .only_op = "sum"},
};

void claim_row_major(const Call& c, TrialReply& r, Output) {
  protocol::TrialMessage dense = c.trial;
  dense.trial.row_gap = 0;
  dense.trial.storage = Storage::kRowMajor;
  for (std::size_t i = 0; i < r.witness.strides.size(); ++i) {
    r.witness.strides[i] = protocol::plan_tensor(c.problem, c.problem.inputs[i], dense).strides;
  }
}

/// Reports inputs of that trial instead of those that were asked for.
void claim(const Call& c, const protocol::TrialMessage& other, TrialReply& r) {
  for (std::size_t i = 0; i < r.witness.shapes.size(); ++i) {
    const auto plan = protocol::plan_tensor(c.problem, c.problem.inputs[i], other);
    r.witness.shapes[i] = plan.shape;
    r.witness.strides[i] = plan.strides;
  }
}

void claim_no_padding(const Call& c, TrialReply& r, Output) {
  protocol::TrialMessage other = c.trial;
  other.trial.pad = 0;
  claim(c, other, r);
}

void claim_one_sample(const Call& c, TrialReply& r, Output) {
  protocol::TrialMessage other = c.trial;
  other.slots.resize(1);
  claim(c, other, r);
}

void lose_a_row(const Call&, TrialReply& r, Output) {
  if (!r.shape.empty()) --r.shape[0];
}

/// The bytes of the only NaN of `dtype` (`narrow` makes no other), with `payload` added to it.
void write_nans(DType dtype, Output output, unsigned payload) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  const double nan[] = {std::numeric_limits<double>::quiet_NaN()};
  std::byte bytes[8];
  narrow(dtype, nan, std::span(bytes).first(size));
  bytes[0] |= static_cast<std::byte>(payload);
  for (std::size_t at = 0; at + size <= output.size(); at += size) {
    std::memcpy(output.data() + at, bytes, size);
  }
}

void leak_nans(const Call& c, TrialReply&, Output output) {
  std::vector<double> values(output.size() / static_cast<std::size_t>(size_of(c.problem.dtype)));
  widen(c.problem.dtype, output, values);
  const bool any = std::ranges::any_of(values, [](double v) { return std::isnan(v); });
  if (any) write_nans(c.problem.dtype, output, 0);
}

constexpr Behaviour kReports[] = {
    {.name = "runs-once", .spoil = [](const Call&, TrialReply& r, Output) { r.witness.calls = 1; }},
    {.name = "has-one-sample", .spoil = claim_one_sample},
    {.name = "keeps-its-company",
     .spoil = [](const Call&, TrialReply& r, Output) { r.witness.input_digest = 1; }},
    {.name = "calls-as-usual",
     .spoil = [](const Call&, TrialReply& r, Output) { r.witness.form = "functional"; }},
    {.name = "does-not-pad", .spoil = claim_no_padding},
    {.name = "no-witness-layout", .spoil = claim_row_major},
    {.name = "no-witness-address",
     .spoil = [](const Call&, TrialReply& r, Output) { r.witness.address_mod_64.assign(9, 0); }},
    {.name = "no-witness-output",
     .spoil = [](const Call&, TrialReply& r, Output) { r.witness.gave_output = false; }},
    {.name = "no-parallel-region",
     .spoil = [](const Call&, TrialReply& r, Output) { r.witness.largest_team = 1; }},
    {.name = "wrong-team",
     .spoil = [](const Call&, TrialReply& r, Output) { r.witness.largest_team = 5; }},
    {.name = "wrong-shape", .spoil = lose_a_row},
    {.name = "wrong-dtype", .spoil = [](const Call&, TrialReply& r, Output) { r.dtype = "int64"; }},
    {.name = "unwritten", .spoil = [](const Call&, TrialReply& r, Output) { r.unwritten = 1; }},
    {.name = "input-changed",
     .spoil = [](const Call&, TrialReply& r, Output) { r.input_changed = true; }},
    {.name = "out-of-bounds",
     .spoil = [](const Call&, TrialReply& r, Output) { r.out_of_bounds = true; }},
    {.name = "not-called", .claims_own_overload = true},
    {.name = "nan-leak", .spoil = leak_nans},
    {.name = "nan-payload",
     .spoil = [](const Call& c,
                 TrialReply&,
                 Output output) { write_nans(c.problem.dtype, output, c.batch() >= 8 ? 1 : 0); }},
    {.name = "refuses",
     .spoil = [](const Call&,
                 TrialReply& r,
                 Output) { r = {.outcome = protocol::Outcome::kRefused, .message = "not today"}; }},
    {.name = "refuses-33",
     .spoil =
         [](const Call& c, TrialReply& r, Output) {
           if (c.batch() == 33) r = {.outcome = protocol::Outcome::kRefused, .message = "not 33"};
         }},
};

/// With the default action, which a sanitizer replaces.
void die() {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

void be_killed() { raise(SIGKILL); }

/// Whether no worker of this parent asked before: the first one leaves a file.
bool is_first_of_parent() {
  const std::string mark = kKilledOnceMark + std::to_string(getppid());
  const int file = open(mark.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

constexpr Behaviour kEnds[] = {
    {.name = "throws", .before = [](const Call&) { throw std::runtime_error("out of ideas"); }},
    {.name = "crashes-at-33", .before = [](const Call& c) { c.batch() == 33 ? die() : void(); }},
    {.name = "killed-at-33",
     .before = [](const Call& c) { c.batch() == 33 ? be_killed() : void(); }},
    {.name = "killed-once-at-33",
     .before =
         [](const Call& c) { c.batch() == 33 && is_first_of_parent() ? be_killed() : void(); }},
    {.name = "crashes-in-batches", .before = [](const Call& c) { c.batch() > 1 ? die() : void(); }},
    {.name = "hangs-at-33",
     .before = [](const Call& c) { c.batch() == 33 ? void(sleep(600)) : void(); }},
    {.name = "exits"},  // in worker_main.cpp
};

constexpr Behaviour kDecoders[] = {
    {.name = "decodes", .answer = [](report::DecoderAnswer&) {}},
    {.name = "decodes-otherwise",
     .answer =
         [](report::DecoderAnswer& a) {
           a.distinct = 2;
           a.first_token = {.request = 3, .position = 1, .alone = 6, .served = 9};
         }},
    {.name = "decodes-idly",
     .answer = [](report::DecoderAnswer& a) { a.traffic.largest_batch = 1; }},
    {.name = "decodes-nonsense", .answer = [](report::DecoderAnswer& a) { a.distinct = -1; }},
    {.name = "throws-decoding",
     .answer = [](report::DecoderAnswer&) { throw std::runtime_error("out of tokens"); }},
    {.name = "dies-decoding", .answer = [](report::DecoderAnswer&) { die(); }},
    {.name = "hangs-decoding", .answer = [](report::DecoderAnswer&) { sleep(600); }},
};

}  // namespace

const Behaviour& find_behaviour(const std::string& name) {
  const std::span<const Behaviour> all[] = {
      kSeenByOneRelation, kOtherBits, kReports, kEnds, kDecoders};
  for (std::span<const Behaviour> some : all) {
    const auto at = std::ranges::find(some, name, &Behaviour::name);
    if (at != some.end()) return *at;
  }
  throw std::invalid_argument("the fake worker has no behaviour '" + name + "'");
}

}  // namespace bic::fake
