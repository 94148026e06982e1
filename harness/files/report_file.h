#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace bic {

/// The most that is read of a report.
inline constexpr std::size_t kLargestReport = std::size_t{1} << 30;

/// Where a report lies that is given as a file or as the folder of a run; whether it can be read is
/// for who reads it.
std::filesystem::path report_file(const std::string& path);

}  // namespace bic
