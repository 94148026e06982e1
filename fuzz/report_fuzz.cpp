// Reports: one that is read can be written, and that text reads as itself; all else is refused.

#include "fuzz/fuzz.h"
#include "results_schema/error.h"
#include "results_schema/report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace bic::report;
  std::string written;
  try {
    written = write_report(read_report(bic::fuzz::text_of(bytes, size), "fuzz"));
  } catch (const bic::UsageError& error) {
    bic::fuzz::require_one_line(error);
    return 0;
  }
  bic::fuzz::require(write_report(read_report(written, "fuzz")) == written,
                     "a report reads as what was written");
  return 0;
}
