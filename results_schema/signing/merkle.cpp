#include "results_schema/signing/merkle.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "results_schema/sha256.h"

namespace bic::signing {
namespace {

int value_of(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

void append_bytes(std::string& bytes, const std::string& hex) {
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(value_of(hex[i]) << 4 | value_of(hex[i + 1]));
  }
}

std::string node_hash(const std::string& left, const std::string& right) {
  std::string bytes(1, '\1');
  append_bytes(bytes, left);
  append_bytes(bytes, right);
  return sha256_hex(bytes);
}

/// Leaves of the left part of a tree: the largest power of two below its leaves.
std::size_t left_part(std::size_t count) { return std::bit_floor(count - 1); }

}  // namespace

std::string leaf_hash(std::string_view text) {
  return sha256_hex(std::string(1, '\0').append(text));
}

std::string merkle_root(std::span<const std::string> leaves) {
  if (leaves.empty()) return sha256_hex(std::string_view());
  if (leaves.size() == 1) return leaves[0];
  const std::size_t left = left_part(leaves.size());
  return node_hash(merkle_root(leaves.first(left)), merkle_root(leaves.subspan(left)));
}

std::vector<std::string> inclusion_proof(std::span<const std::string> leaves, std::size_t index) {
  if (leaves.size() <= 1) return {};
  const std::size_t left = left_part(leaves.size());
  const bool in_left = index < left;
  const auto own = in_left ? leaves.first(left) : leaves.subspan(left);
  const auto other = in_left ? leaves.subspan(left) : leaves.first(left);
  std::vector<std::string> proof = inclusion_proof(own, in_left ? index : index - left);
  proof.push_back(merkle_root(other));
  return proof;
}

std::string root_from_proof(const std::string& leaf,
                            std::size_t index,
                            std::size_t count,
                            std::span<const std::string> proof) {
  if (index >= count || !std::ranges::all_of(proof, is_sha256)) return "";
  if (count == 1) return proof.empty() ? leaf : "";
  if (proof.empty()) return "";
  const std::size_t left = left_part(count);
  const bool in_left = index < left;
  const std::string own = root_from_proof(leaf,
                                          in_left ? index : index - left,
                                          in_left ? left : count - left,
                                          proof.first(proof.size() - 1));
  if (own.empty()) return "";
  return in_left ? node_hash(own, proof.back()) : node_hash(proof.back(), own);
}

}  // namespace bic::signing
