#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bic::signing {

/// Seconds since 1970 in UTC.
using Seconds = std::int64_t;

inline constexpr Seconds kDay = 86'400;

/// Of an RFC 3339 text, without its fraction. Empty when it is none.
std::optional<Seconds> parse_time(std::string_view text);

/// "2026-03-01T09:30:00Z".
std::string time_text(Seconds time);

}  // namespace bic::signing
