#include "results_schema/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "results_schema/error.h"

namespace bic {
namespace {

class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    require(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }

  void add(const void* bytes, std::size_t count) {
    require(EVP_DigestUpdate(context_.get(), bytes, count) == 1);
  }

  std::string hex() {
    std::array<unsigned char, 32> digest{};
    require(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
    std::string text;
    for (const unsigned char byte : digest) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

 private:
  static void require(bool worked) {
    if (!worked) throw HarnessError("sha256: OpenSSL could not compute a digest");
  }

  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_hex(std::span<const std::byte> bytes) {
  Hasher hasher;
  hasher.add(bytes.data(), bytes.size());
  return hasher.hex();
}

std::string sha256_hex(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string sha256_file_hex(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(1 << 16);
  Hasher hasher;
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hasher.add(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() || file.bad()) {
    throw UsageError("sha256: cannot read '" + path.string() + "': " + std::strerror(errno));
  }
  return hasher.hex();
}

}  // namespace bic
