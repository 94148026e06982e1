#include "results_schema/signing/merkle.h"

#include <gtest/gtest.h>

#include "results_schema/sha256.h"

namespace bic::signing {
namespace {

std::vector<std::string> leaves_of(std::size_t count) {
  std::vector<std::string> leaves;
  for (std::size_t i = 0; i < count; ++i) leaves.push_back(leaf_hash("case " + std::to_string(i)));
  return leaves;
}

// Inputs and roots of the tests of Certificate Transparency.
TEST(Merkle, HasTheRootsOfCertificateTransparency) {
  using namespace std::string_literals;
  const std::vector<std::string> inputs{
      ""s,
      "\x00"s,
      "\x10",
      "\x20\x21",
      "\x30\x31",
      "\x40\x41\x42\x43",
      "\x50\x51\x52\x53\x54\x55\x56\x57",
      "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"};
  const std::pair<std::size_t, const char*> roots[] = {
      {1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
      {2, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"},
      {3, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
      {5, "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
      {8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"}};
  std::vector<std::string> leaves;
  for (const std::string& input : inputs) leaves.push_back(leaf_hash(input));
  for (const auto& [count, root] : roots)
    EXPECT_EQ(merkle_root(std::span(leaves).first(count)), root);
  EXPECT_EQ(merkle_root({}), sha256_hex(std::string_view()));
}

TEST(Merkle, ProvesEachLeafAndNoOtherPlace) {
  for (std::size_t count = 1; count <= 17; ++count) {
    const std::vector<std::string> leaves = leaves_of(count);
    const std::string root = merkle_root(leaves);
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::string> proof = inclusion_proof(leaves, i);
      EXPECT_EQ(root_from_proof(leaves[i], i, count, proof), root);
      for (std::size_t other = 0; other < count; ++other) {
        if (other == i) continue;
        EXPECT_NE(root_from_proof(leaves[i], other, count, proof), root);
      }
      EXPECT_NE(root_from_proof(leaf_hash("other"), i, count, proof), root);
    }
  }
}

TEST(Merkle, RefusesProofsOfAnotherLength) {
  const std::vector<std::string> leaves = leaves_of(5);
  std::vector<std::string> proof = inclusion_proof(leaves, 1);
  EXPECT_EQ(root_from_proof(leaves[1], 5, 5, proof), "");
  proof.push_back(leaves[0]);
  EXPECT_EQ(root_from_proof(leaves[1], 1, 5, proof), "");
  proof.resize(1);
  EXPECT_EQ(root_from_proof(leaves[1], 1, 5, proof), "");
  EXPECT_EQ(root_from_proof(leaves[1], 1, 2, std::vector<std::string>{"no digest"}), "");
}

}  // namespace
}  // namespace bic::signing
