#include "harness/run/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

#include "harness/files/out_folder.h"
#include "results_schema/error.h"

namespace bic {
namespace {

constexpr const char* kJournal = "journal.jsonl";

/// Whether there is a report, of a run that nothing cut. Its text is looked through: it may be
/// large, and holds that field once.
bool is_complete(const std::filesystem::path& report) {
  std::ostringstream text;
  text << std::ifstream(report).rdbuf();
  return text.view().find(R"("complete":true)") != std::string_view::npos;
}

}  // namespace

bool has_journal(const std::filesystem::path& folder) {
  std::error_code unreadable;
  const bool is_there = std::filesystem::exists(folder / kJournal, unreadable);
  if (!unreadable) return is_there;
  throw UsageError(fmt::format("--resume '{}': cannot be looked into: {}; name the folder of a run",
                               folder.string(),
                               unreadable.message()));
}

RunJournal::RunJournal(std::filesystem::path out, bool resumed)
    : out_(std::move(out)), path_(out_ / kJournal), resumed_(resumed) {
  if (!resumed_) {
    make_out_folder(out_);
    if (report::is_being_written(path_)) {
      throw UsageError(fmt::format(
          "--out: another bi-conform writes to '{}'; wait for its end or name another folder",
          out_.string()));
    }
    std::error_code unreadable;  // then it cannot be removed either, which says why
    replaces_cut_run_ = std::filesystem::exists(path_, unreadable) && !is_complete(report());
    for (const auto& old : {path_, report()}) remove(old);
    return;
  }
  if (!has_journal(out_)) {
    throw UsageError(fmt::format(
        "--resume '{}': there is no {} in it; start the run with --out", out_.string(), kJournal));
  }
  read_ = report::read_journal(path_);
  header_ = read_.header;
  found_ = read_.problems.size();
  for (report::ProblemRecord& p : read_.problems) {
    const std::tuple key(p.op, p.dtype, static_cast<std::size_t>(p.number));
    problems_.emplace(key, std::move(p));
  }
}

/// What an earlier run left must not be taken for this one's.
void RunJournal::remove(const std::filesystem::path& old) const {
  std::error_code failed;
  std::filesystem::remove(old, failed);
  if (!failed && !std::filesystem::exists(old, failed)) return;
  throw UsageError(fmt::format("--out: '{}' cannot be replaced; remove it or name another folder",
                               old.string()));
}

void RunJournal::check(const RunFacts& facts, bool all) const {
  if (!resumed_) return;
  std::map<std::string, std::string> there = header_.facts;
  for (const auto& [name, value] : facts) {
    const auto at = there.extract(name);
    const std::string before = at.empty() ? "none" : at.mapped();
    if (before != value) refuse(name, before, value);
  }
  if (all && !there.empty()) refuse(there.begin()->first, there.begin()->second, "none");
}

void RunJournal::refuse(const std::string& fact,
                        const std::string& there,
                        const std::string& now) const {
  throw HarnessError(fmt::format(
      "--resume '{0}': {1} is {2} there and {3} now; go on as it was begun, '{4} --resume "
      "{0}', or begin anew in another folder",
      out_.string(),
      fact == "plan" ? "the plan (ops, sizes, filters, declared files)" : fact,
      there,
      now,
      header_.command_line));
}

void RunJournal::refuse_complete(std::size_t problems, std::size_t decoders) const {
  const bool has_all = found_ >= problems && read_.decoder.size() >= decoders;
  // What the journal does not keep, as a model's tensors, may still be missing.
  if (!resumed_ || !has_all || !is_complete(report())) return;
  throw UsageError(fmt::format(
      "--resume '{}': that run is complete; its report is '{}'", out_.string(), report().string()));
}

void RunJournal::begin(const report::JournalHeader& header) {
  if (resumed_) {
    writer_.emplace(path_, read_);
    remove(report());
  } else {
    header_ = header;
    writer_.emplace(path_, header_);
  }
}

std::optional<report::ProblemRecord> RunJournal::take(const std::string& op,
                                                      DType dtype,
                                                      std::size_t number) {
  const std::lock_guard lock(mutex_);
  auto node = problems_.extract({op, dtype, number});
  if (node.empty()) return {};
  return std::move(node.mapped());
}

std::optional<report::Throughput> RunJournal::timing(const std::string& op, DType dtype) const {
  for (const report::RowTiming& t : read_.timings) {
    if (t.op == op && t.dtype == dtype) return t.throughput;
  }
  return {};
}

std::optional<report::DecoderRow> RunJournal::decoder(
    const report::DecoderQuestion& question) const {
  const auto at = std::ranges::find(read_.decoder, question, &report::DecoderRow::question);
  return at == read_.decoder.end() ? std::nullopt : std::optional(*at);
}

void RunJournal::keep(const report::ProblemRecord& problem) {
  const std::lock_guard lock(mutex_);
  writer_->add(problem);
}

void RunJournal::keep(const report::RowTiming& timing) {
  const std::lock_guard lock(mutex_);
  writer_->add(timing);
}

void RunJournal::keep(const report::DecoderRow& row) {
  const std::lock_guard lock(mutex_);
  writer_->add(row);
}

}  // namespace bic
