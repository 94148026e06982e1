#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace bic {

/// The content of a file. `what` names it in errors: "--policy". Throws UsageError when it cannot
/// be read or has more than `most` bytes.
std::string read_text(const std::string& what, const std::filesystem::path& path, std::size_t most);

/// Writes it whole or not at all. A `secret` file is for its owner alone and takes no other's
/// place. Throws UsageError when it cannot be written.
void write_text(const std::filesystem::path& path, const std::string& text, bool secret = false);

}  // namespace bic
