#include "harness/cli/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>

#include "adapters/protocol/usable_cores.h"
#include "harness/files/typed.h"
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

using Units = std::map<std::string, double>;

/// A number with one of the units; 0 for any other text.
double quantity(const std::string& text, const Units& units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto at = units.find(std::string(end, text.data() + text.size()));
  return error == std::errc() && at != units.end() ? value * at->second : 0;
}

/// In the words of the other mistakes, where the option at fault can be told.
[[noreturn]] void refuse_mismatch(const CLI::App& app, const CLI::ArgumentMismatch& mismatch) {
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_items_expected_max() == 1 && o->count() > 1) {
      throw UsageError(
          fmt::format("{} is given {} times; give it once", o->get_name(), o->count()));
    }
  }
  const std::string text = mismatch.what();
  if (!text.ends_with(" missing")) throw mismatch;
  throw UsageError(text.substr(0, text.find(':')) + ": its value is missing");
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
  } catch (const CLI::ArgumentMismatch& mismatch) {
    refuse_mismatch(app, mismatch);
  }
  const Arguments extra = app.remaining();
  if (extra.empty()) return refuse_empty_values(app);
  Arguments known;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& flag : o->get_lnames()) known.push_back("--" + flag);
  }
  const std::string wrong = extra[0].substr(0, extra[0].find('='));
  const char* what = wrong.starts_with("-") ? "flag" : "argument";
  throw UsageError(fmt::format("unknown {} '{}'{} ({} --help lists them)",
                               what,
                               wrong,
                               did_you_mean(wrong, known),
                               app.get_name()));
}

std::chrono::milliseconds duration(const std::string& flag, const std::string& text) {
  const double ms = quantity(text, {{"ms", 1}, {"s", 1e3}, {"", 1e3}, {"m", 6e4}});
  if (!(ms >= 1) || ms > 1e9) {
    throw UsageError(
        fmt::format("{}: '{}' is not a duration; write for example 30s or 2m", flag, text));
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(ms));
}

std::int64_t byte_count(const std::string& flag, const std::string& text) {
  const double bytes = quantity(text,
                                {{"", 1},
                                 {"kB", 1e3},
                                 {"KB", 1e3},
                                 {"MB", 1e6},
                                 {"GB", 1e9},
                                 {"TB", 1e12},
                                 {"KiB", 0x1p10},
                                 {"MiB", 0x1p20},
                                 {"GiB", 0x1p30},
                                 {"TiB", 0x1p40}});
  if (!(bytes >= 1e6) || bytes > 0x1p50) {
    throw UsageError(
        fmt::format("{}: '{}' is not a size from 1 MB to 1024 TiB; write for example 500MB or 4GiB",
                    flag,
                    text));
  }
  return static_cast<std::int64_t>(bytes);
}

Seed seed_flag(const std::string& text) {
  if (const auto seed = parse_seed(text)) return *seed;
  throw UsageError(fmt::format("--seed: '{}' is not hexadecimal of at most 16 digits", text));
}

int job_count(const std::string& text) {
  constexpr int kMost = 64;
  if (text.empty()) return std::min(usable_cores(), 4);
  return static_cast<int>(number_flag("--jobs", text, kMost));
}

}  // namespace bic
