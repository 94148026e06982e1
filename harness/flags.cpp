#include "harness/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <thread>

#include "harness/typed.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

/// A value left empty, as by an unset shell variable, would read as if the flag were not there.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& value : o->results()) {
      if (value.empty()) throw UsageError(o->get_name() + ": its value is empty");
    }
  }
}

}  // namespace

void parse(CLI::App& app, Arguments arguments) {
  app.allow_extras();
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    throw;
  }
  const Arguments extra = app.remaining();
  if (extra.empty()) return refuse_empty_values(app);
  Arguments known;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& flag : o->get_lnames()) known.push_back("--" + flag);
  }
  const std::string wrong = extra[0].substr(0, extra[0].find('='));
  const char* what = wrong.starts_with("-") ? "flag" : "argument";
  throw UsageError(fmt::format(
      "unknown {} '{}'{} (bi-conform --help lists them)", what, wrong, did_you_mean(wrong, known)));
}

std::chrono::milliseconds duration(const std::string& flag, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  const std::map<std::string, double> units{{"ms", 1}, {"s", 1e3}, {"", 1e3}, {"m", 6e4}};
  const auto at = units.find(unit);
  const double ms = at == units.end() ? 0 : value * at->second;
  if (error != std::errc() || !(ms >= 1) || ms > 1e9) {
    throw UsageError(
        fmt::format("{}: '{}' is not a duration; write for example 30s or 2m", flag, text));
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(ms));
}

Seed seed_flag(const std::string& text) {
  if (const auto seed = parse_seed(text)) return *seed;
  throw UsageError(fmt::format("--seed: '{}' is not hexadecimal of at most 16 digits", text));
}

int job_count(const std::string& text) {
  constexpr int kMost = 64;
  if (text.empty()) return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 4);
  if (const auto count = whole_number(text, kMost)) return static_cast<int>(*count);
  throw UsageError(fmt::format("--jobs: '{}' is not a whole number from 1 to {}", text, kMost));
}

}  // namespace bic
