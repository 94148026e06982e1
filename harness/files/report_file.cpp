#include "harness/files/report_file.h"

namespace bic {

std::filesystem::path report_file(const std::string& path) {
  std::error_code unreadable;
  const std::filesystem::path given(path);
  return std::filesystem::is_directory(given, unreadable) ? given / "report.json" : given;
}

}  // namespace bic
