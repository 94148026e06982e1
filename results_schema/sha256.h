#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace bic {

/// SHA-256 (FIPS 180-4) as 64 lower-case hex digits. Throws HarnessError when OpenSSL cannot.
std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view text);

/// Whether the text is as those that `sha256_hex` gives.
bool is_sha256(std::string_view text);

/// SHA-256 of a file's content, read in pieces. Throws UsageError when it cannot be read.
std::string sha256_file_hex(const std::filesystem::path& path);

}  // namespace bic
