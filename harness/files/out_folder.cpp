#include "harness/files/out_folder.h"

#include <fmt/format.h>

#include "results_schema/error.h"

namespace bic {

void make_out_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed) return;
  throw UsageError(fmt::format("--out '{}': cannot be made: {}; name a folder that can be written",
                               folder.string(),
                               failed.message()));
}

}  // namespace bic
