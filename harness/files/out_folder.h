#pragma once

#include <filesystem>

namespace bic {

/// Makes the folder that --out names, unless it is there. Throws UsageError when it cannot be made.
void make_out_folder(const std::filesystem::path& folder);

}  // namespace bic
