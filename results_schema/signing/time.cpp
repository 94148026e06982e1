#include "results_schema/signing/time.h"

#include <charconv>
#include <chrono>
#include <cstdio>

namespace bic::signing {
namespace {

/// The number that `text` is, all of it, from 0 to `most`.
std::optional<int> number(std::string_view text, int most) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

/// "Z" or "+02:00", in seconds.
std::optional<Seconds> offset_in(std::string_view text) {
  if (text == "Z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return {};
  const auto hours = number(text.substr(1, 2), 23), minutes = number(text.substr(4, 2), 59);
  if (!hours || !minutes) return {};
  return (text[0] == '-' ? -1 : 1) * (*hours * 3600 + *minutes * 60);
}

/// What follows the seconds and their fraction.
std::string_view zone_of(std::string_view text) {
  text.remove_prefix(19);
  if (!text.starts_with('.')) return text;
  const std::size_t end = text.find_first_not_of("0123456789", 1);
  return end == text.npos || end == 1 ? "" : text.substr(end);
}

}  // namespace

std::optional<Seconds> parse_time(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':') {
    return {};
  }
  const auto year = number(text.substr(0, 4), 9999), month = number(text.substr(5, 2), 12),
             day = number(text.substr(8, 2), 31), hour = number(text.substr(11, 2), 23),
             minute = number(text.substr(14, 2), 59), second = number(text.substr(17, 2), 60);
  const auto offset = offset_in(zone_of(text));
  if (!year || !month || !day || !hour || !minute || !second || !offset) return {};
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return {};
  const Seconds days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * kDay + *hour * 3600 + *minute * 60 + *second - *offset;
}

std::string time_text(Seconds time) {
  const std::chrono::sys_seconds at{std::chrono::seconds(time)};
  const auto midnight = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(midnight);
  const std::chrono::hh_mm_ss clock(at - midnight);
  char text[40];
  std::snprintf(text,
                sizeof text,
                "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

}  // namespace bic::signing
