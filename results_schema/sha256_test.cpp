#include "results_schema/sha256.h"

#include <gtest/gtest.h>

#include <fstream>

#include "results_schema/error.h"

namespace bic {
namespace {

// FIPS 180-4 examples (NIST, "SHA256.pdf") and the empty message.
constexpr auto kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr auto kOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr auto kOfMillionA = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256_hex("abc"), kOfAbc);
  EXPECT_EQ(sha256_hex(""), kOfNothing);
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), kOfMillionA);
}

TEST(Sha256, ReadsAFileInPieces) {
  const std::filesystem::path path = testing::TempDir() + "sha256_test_file";
  std::ofstream(path, std::ios::binary) << std::string(1000000, 'a');
  EXPECT_EQ(sha256_file_hex(path), kOfMillionA);
  std::ofstream(path, std::ios::binary | std::ios::trunc).close();
  EXPECT_EQ(sha256_file_hex(path), kOfNothing);
  std::filesystem::remove(path);
}

TEST(Sha256, RefusesAFileThatCannotBeRead) {
  EXPECT_THROW(sha256_file_hex("/nonexistent/file"), UsageError);
  EXPECT_THROW(sha256_file_hex("/"), UsageError);  // a folder
}

}  // namespace
}  // namespace bic
