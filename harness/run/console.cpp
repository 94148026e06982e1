#include "harness/run/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/files/typed.h"
#include "harness/judge/decoder_judge.h"
#include "harness/judge/model_rows.h"
#include "harness/judge/verdict.h"
#include "harness/plan/shard_choice.h"
#include "results_schema/render/failure_text.h"

namespace bic {
namespace {

std::string percent(std::int64_t ppm) { return fmt::format("{:.1f}%", ppm / 1e4); }

std::string rate(const report::Throughput& t) {
  const double per_second = t.work * 1e9 / static_cast<double>(t.backend_ns);
  const char* unit = t.unit == "flops" ? "FLOP/s" : "B/s";
  return fmt::format("{:.2f} G{} {:.2f}x", per_second / 1e9, unit, t.ratio_ppm / 1e6);
}

}  // namespace

Console::Console(std::FILE* out, std::string typed, std::string flags)
    : out_(out),
      terminal_(isatty(fileno(out)) != 0),
      typed_(std::move(typed)),
      flags_(std::move(flags)),
      started_(std::chrono::steady_clock::now()) {}

void Console::line(const std::string& text) {
  if (progress_shown_) std::fputs("\r\033[K", out_);
  progress_shown_ = false;
  std::fputs((text + "\n").c_str(), out_);
  std::fflush(out_);
}

void Console::header(const report::Report& r) {
  backend_ = r.subject.backend;
  seed_ = to_string(r.run.seed);
  line(fmt::format("bi-conform {}  backend {} on {}  seed {}  {}",
                   r.suite.version,
                   backend_,
                   r.subject.device,
                   to_string(r.run.seed),
                   r.run.strength));
  line(fmt::format("{}, {} cores, {} threads, {}",
                   r.environment.cpu,
                   r.environment.cores,
                   r.environment.threads,
                   r.environment.isa));
  if (const auto& shard = r.run.shard) {
    line(fmt::format("shard {} by {}", text_of(*shard), shard->source));
    // The launcher gives one terminal to all, and each would write over the others' progress.
    if (shard->source != kShardFlag) terminal_ = false;
  }
  if (!r.shards.empty()) line(fmt::format("merged from {} shards", r.shards.size()));
  if (r.peer) line("against " + r.peer->backend);
  if (const auto& w = r.suite.weights) {
    line(fmt::format("weights of {}: {}, SHA-256 {}", w->preset, w->file, w->sha256));
  }
  line("");
  line(fmt::format("{:<12} {:<5} {:<5} {:>6} {:>6} {:>9}  {}",
                   "op",
                   "dtype",
                   "level",
                   "cases",
                   "red",
                   "err/bound",
                   "throughput, ratio to stock"));
}

void Console::progress(std::size_t done,
                       std::size_t all,
                       std::int64_t cases,
                       const std::string& now) {
  if (!terminal_) return;
  const double spent =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  const double left =
      done == 0 ? 0 : spent / static_cast<double>(done) * static_cast<double>(all - done);
  const std::string text =
      fmt::format("[{}/{}] {} cases, {:.0f} s left: {}", done, all, cases, left, now);
  std::fputs(("\r\033[K" + text.substr(0, 100)).c_str(), out_);
  std::fflush(out_);
  progress_shown_ = true;
}

void Console::row(const report::OpRow& r) {
  std::string text = fmt::format("{:<12} {:<5} {:<5} {:>6} {:>6} {:>9}  {}",
                                 r.op,
                                 name(r.dtype),
                                 name(r.level),
                                 r.cases.sum(),
                                 count_red(r.cases),
                                 r.worst_error_ppm ? percent(*r.worst_error_ppm) : "-",
                                 r.throughput ? rate(*r.throughput) : "-");
  if (!r.why.empty()) text += "  " + r.why;
  line(text);
}

void Console::row(const report::DecoderRow& r) {
  const report::DecoderQuestion& q = r.question;
  line(fmt::format("decoder {:<17} {:<11} {}", text_of(q), name(r.status), r.message));
  if (!is_red(r.status)) return;
  line(fmt::format("repro: {} --backend {} --suite decoder --preset {} --dtype {} --seed {}",
                   typed_,
                   shell_quoted(backend_) + flags_,
                   q.preset,
                   name(q.dtype),
                   seed_));
}

void Console::row(const report::ModelRow& r) {
  const std::string ops = ops_text(r);
  line(fmt::format(
      "{:<25} {:<11} {}{}", name(r), name(r.status), r.message, ops.empty() ? "" : "; " + ops));
  if (!is_red(r.status)) return;
  line(fmt::format("repro: {} --backend {} --suite {} --preset {} --dtype {} --relation accuracy",
                   typed_,
                   shell_quoted(backend_) + flags_,
                   r.model,
                   r.preset,
                   name(r.dtype)));
}

void Console::failure(const report::Failure& failure) {
  line(failure_text(failure.shrunk, typed_, shell_quoted(backend_) + flags_) + "\n" +
       facts_text(failure));
}

void Console::verdict(const report::Report& r, const std::string& path) {
  line("");
  const auto& cases = r.totals.cases;
  const auto hidden = count_red(cases) - static_cast<std::int64_t>(r.failures.size());
  if (hidden > 0) line(fmt::format("{} more failing cases are in the report", hidden));
  line(fmt::format(
      "{} cases: {} pass, {} fail, {} unstable, {} vacuous, {} skipped, {} unsupported, "
      "{} other; {:.1f} s",
      r.totals.planned,
      cases[Status::kPass],
      cases[Status::kFail],
      cases[Status::kUnstable],
      cases[Status::kVacuous],
      cases[Status::kSkipped],
      cases[Status::kUnsupported],
      cases.sum() - cases[Status::kPass] - cases[Status::kFail] - cases[Status::kUnstable] -
          cases[Status::kVacuous] - cases[Status::kSkipped] - cases[Status::kUnsupported],
      static_cast<double>(r.run.duration_ns) / 1e9));
  if (r.run.killed_workers > 0) {
    line(fmt::format("{} times something else killed a worker; its problem was run again",
                     r.run.killed_workers));
  }
  if (!r.run.complete) line("incomplete: " + r.run.incomplete_reason);
  line(r.verdict.text);
  line("report: " + path);
}

void Console::whole(const report::Report& r, const std::string& path) {
  header(r);
  for (const report::Failure& f : r.failures) failure(f);
  for (const report::OpRow& op : r.ops) row(op);
  for (const report::DecoderRow& decoder : r.decoder) row(decoder);
  for (const report::ModelRow& model : r.models) row(model);
  verdict(r, path);
}

}  // namespace bic
