#include "harness/files/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "results_schema/error.h"

namespace bic {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const char* what, int error) {
  throw UsageError(
      fmt::format("'{}': cannot be {}: {}", path.string(), what, std::strerror(error)));
}

void write_all(int descriptor, const std::string& text, const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(path, "written", errno);
    done += static_cast<std::size_t>(written);
  }
}

/// A file that was not there before, at once with its final rights.
int created(const std::filesystem::path& path, bool secret) {
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, secret ? 0600 : 0666);
  if (descriptor < 0) refuse(path, "created", errno);
  return descriptor;
}

}  // namespace

std::string read_text(const std::string& what,
                      const std::filesystem::path& path,
                      std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char piece[1 << 16];
  while (file && text.size() <= most) {
    file.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    throw UsageError(
        fmt::format("{}: '{}' cannot be read: {}", what, path.string(), std::strerror(errno)));
  }
  if (text.size() <= most) return text;
  throw UsageError(fmt::format("{}: '{}' has more than {} MiB", what, path.string(), most >> 20));
}

void write_text(const std::filesystem::path& path, const std::string& text, bool secret) {
  const std::filesystem::path partial = path.string() + (secret ? "" : ".partial");
  std::error_code ignored;
  if (!secret) std::filesystem::remove(partial, ignored);
  const int descriptor = created(partial, secret);
  try {
    write_all(descriptor, text, partial);
  } catch (...) {
    ::close(descriptor);
    std::filesystem::remove(partial, ignored);
    throw;
  }
  ::close(descriptor);
  if (!secret && ::rename(partial.c_str(), path.c_str()) != 0) refuse(path, "written", errno);
}

}  // namespace bic
