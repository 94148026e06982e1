#include "harness/console.h"

#include <fmt/format.h>
#include <unistd.h>

namespace bic {
namespace {

std::string trial_text(const Trial& t) {
  std::string text = fmt::format("B={}", t.batch);
  if (t.position > 0) text += fmt::format(" pos={}", t.position);
  const std::string token = to_string(t);
  if (const auto comma = token.find(','); comma != std::string::npos) {
    text += " " + token.substr(comma + 1);
  }
  return text;
}

std::string bits_text(const report::Detail& d) {
  std::string text = fmt::format("{} of {} elements differ, first [{}] {} vs {}",
                                 d.differing,
                                 d.total,
                                 d.first_index.value_or(0),
                                 d.bits_a,
                                 d.bits_b);
  if (d.ulps) text += fmt::format(" ({} ulp)", *d.ulps);
  if (d.starts_at_batch) text += fmt::format("; starts at B={}", *d.starts_at_batch);
  return text;
}

std::string reasons_text(const report::CaseResult& r) {
  std::vector<std::string_view> names;
  for (Reason reason : r.reasons) names.push_back(name(reason));
  return fmt::to_string(fmt::join(names, ", "));
}

std::string percent(std::int64_t ppm) { return fmt::format("{:.1f}%", ppm / 1e4); }

std::string rate(const report::Throughput& t) {
  const double per_second = t.work * 1e9 / static_cast<double>(t.backend_ns);
  const char* unit = t.unit == "flops" ? "FLOP/s" : "B/s";
  return fmt::format("{:.2f} G{} {:.2f}x", per_second / 1e9, unit, t.ratio_ppm / 1e6);
}

}  // namespace

std::string failure_text(const Case& c,
                         const Problem& problem,
                         const report::CaseResult& result,
                         const std::string& typed,
                         const std::string& backend) {
  std::string text = result.status == Status::kFail ? "FAIL" : std::string(name(result.status));
  const std::string& variant = problem.variant->name;
  text += fmt::format(" {}{}.{} {} {}",
                      problem.op->name,
                      variant.empty() ? "" : "-" + variant,
                      c.relation,
                      name(problem.dtype),
                      trial_text(c.named));
  if (c.named_against) text += " vs " + trial_text(*c.named_against);
  if (!result.reasons.empty()) text += fmt::format(" [{}]", reasons_text(result));
  if (result.detail) {
    if (result.detail->first_index) text += ": " + bits_text(*result.detail);
    if (!result.detail->message.empty()) text += "; " + result.detail->message;
  }
  return fmt::format("{}\nrepro: {} repro '{}' --backend {}", text, typed, c.name, backend);
}

Console::Console(std::FILE* out, std::string typed)
    : out_(out),
      terminal_(isatty(fileno(out)) != 0),
      typed_(std::move(typed)),
      started_(std::chrono::steady_clock::now()) {}

void Console::line(const std::string& text) {
  if (progress_shown_) std::fputs("\r\033[K", out_);
  progress_shown_ = false;
  std::fputs((text + "\n").c_str(), out_);
  std::fflush(out_);
}

void Console::header(const report::Report& r) {
  backend_ = r.subject.backend;
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
  std::int64_t red = 0;
  for (std::size_t s = 0; s < kStatusCount; ++s) {
    if (is_red(static_cast<Status>(s))) red += r.cases.by_status[s];
  }
  std::string text = fmt::format("{:<12} {:<5} {:<5} {:>6} {:>6} {:>9}  {}",
                                 r.op,
                                 name(r.dtype),
                                 name(r.level),
                                 r.cases.sum(),
                                 red,
                                 r.worst_error_ppm ? percent(*r.worst_error_ppm) : "-",
                                 r.throughput ? rate(*r.throughput) : "-");
  if (!r.why.empty()) text += "  " + r.why;
  line(text);
}

void Console::failure(const Case& c, const Problem& problem, const report::CaseResult& result) {
  const auto kind = std::tuple(problem.op->name, problem.dtype, std::string(c.relation));
  if (!shown_.insert(kind).second) {
    ++hidden_;
    return;
  }
  line(failure_text(c, problem, result, typed_, backend_));
}

void Console::verdict(const report::Report& r, const std::string& path) {
  line("");
  if (hidden_ > 0) line(fmt::format("{} more failing cases are in the report", hidden_));
  const auto& cases = r.totals.cases;
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
  if (!r.run.complete) line("incomplete: " + r.run.incomplete_reason);
  line(r.verdict.text);
  line("report: " + path);
}

}  // namespace bic
