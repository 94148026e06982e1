// Files of --shapes, CSV and JSON lines: rows of ops that exist, or one line that refuses.

#include "fuzz/fuzz.h"
#include "harness/plan/shapes.h"
#include "results_schema/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const auto rows = bic::parse_shapes(bic::fuzz::text_of(bytes, size), "fuzz");
    bic::fuzz::require(!rows.empty(), "a file without rows is refused");
    for (const bic::ShapeRow& row : rows) {
      bic::fuzz::require(row.op != nullptr && !bic::variants_of(row).empty(),
                         "a row has an op and a variant of it");
    }
  } catch (const bic::UsageError& error) {
    bic::fuzz::require_one_line(error);
  }
  return 0;
}
