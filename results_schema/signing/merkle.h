#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bic::signing {

/// A Merkle tree over texts as in RFC 9162, section 2.1 (that of Certificate Transparency): leaves
/// and nodes are hashed behind a byte that tells them apart. SHA-256; digests are 64 hex digits.

/// The hash of one leaf.
std::string leaf_hash(std::string_view text);

/// The root of a tree of leaf hashes; of none the hash of the empty text.
std::string merkle_root(std::span<const std::string> leaves);

/// What must be known beside leaf `index` to compute the root, from the leaf upwards.
std::vector<std::string> inclusion_proof(std::span<const std::string> leaves, std::size_t index);

/// The root that follows from a leaf and its proof in a tree of `count` leaves; empty when the
/// proof has not the length that its place asks for, or a part that is no digest.
std::string root_from_proof(const std::string& leaf,
                            std::size_t index,
                            std::size_t count,
                            std::span<const std::string> proof);

}  // namespace bic::signing
