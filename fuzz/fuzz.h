#pragma once

// What the fuzz targets share. A target throws or aborts when a claim does not hold; libFuzzer then
// keeps the input.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

/// The one function of a target, under the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace bic::fuzz {

inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// Ends the program when `holds` is false; `claim` says what was expected.
inline void require(bool holds, const char* claim) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: it does not hold that %s\n", claim);
  std::abort();
}

/// What a person reads is one line.
inline void require_one_line(const std::exception& error) {
  const std::string_view line = error.what();
  require(!line.empty() && line.find('\n') == line.npos, "an error is one line");
}

}  // namespace bic::fuzz
