// Files of --op-spec: an op with inputs and a reference, or one line that refuses.

#include "fuzz/fuzz.h"
#include "harness/plan/op_spec_file.h"
#include "results_schema/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const auto file = bic::parse_op_spec("fuzz", bic::fuzz::text_of(bytes, size));
    bic::fuzz::require(!file.op.name.empty() && !file.reference.empty(),
                       "an op that is declared has a name and a reference");
    bic::fuzz::require(file.op.variants.size() == 1 && !file.op.variants[0].inputs.empty(),
                       "an op that is declared has one variant with inputs");
  } catch (const bic::UsageError& error) {
    bic::fuzz::require_one_line(error);
  }
  return 0;
}
