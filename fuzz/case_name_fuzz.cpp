// Case strings: what is read is written as the same text; all else is refused in one line.

#include "fuzz/fuzz.h"
#include "results_schema/case_name.h"
#include "results_schema/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = bic::fuzz::text_of(bytes, size);
  std::string written;
  try {
    written = bic::to_string(bic::parse_case_name(text));
  } catch (const bic::UsageError& error) {
    bic::fuzz::require_one_line(error);
    return 0;
  }
  bic::fuzz::require(written == text, "a case string that is read is the canonical text");
  return 0;
}
