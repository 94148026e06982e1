#include "results_schema/signing/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace bic::signing {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlSafe = "-_";  // in the place of "+/"

/// Values by character; 64 and more: no digit.
constexpr std::array<std::uint8_t, 256> values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(64);
  for (std::uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kDigits[i])] = i;
  for (std::uint8_t i = 0; i < 2; ++i) values[static_cast<unsigned char>(kUrlSafe[i])] = 62 + i;
  return values;
}

constexpr auto kValues = values();

bool mixes_alphabets(std::string_view text) {
  return text.find_first_of("+/") != text.npos && text.find_first_of(kUrlSafe) != text.npos;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || mixes_alphabets(text)) return {};
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const std::size_t digits = at + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t value =
          i < digits ? kValues[static_cast<unsigned char>(text[at + i])] : 0;
      if (value > 63) return {};
      group = group << 6 | value;
    }
    for (std::size_t i = 0; i + 1 < digits; ++i) {
      bytes += static_cast<char>(group >> (16 - 8 * i) & 0xFF);
    }
    if ((group & ((1U << 8 * (4 - digits)) - 1)) != 0) return {};  // bits behind the last byte
  }
  return bytes;
}

}  // namespace bic::signing
