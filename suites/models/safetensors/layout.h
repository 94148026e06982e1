#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bic::safetensors {

/// A tensor of a file: where its bytes lie and what they are.
struct Entry {
  std::string name;
  std::string dtype;  ///< as the file spells it: "F32", "BF16", …
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< in bytes from the start of the file
  std::uint64_t end = 0;
};

/// The bytes of one element; 0 for a dtype that safetensors has not.
std::uint64_t element_bytes(std::string_view dtype);

/// What the bytes of a safetensors file hold, in the order of their data. Trusts nothing: every
/// entry lies inside the file, has as many bytes as its shape and dtype say, shares none with
/// another, and no byte is left over. `where` names the file in errors. Throws UsageError.
std::vector<Entry> describe(std::span<const std::byte> file, std::string_view where);

/// The index of a sharded checkpoint: the file of each tensor, a plain name beside the index.
/// Throws UsageError.
std::map<std::string, std::string> read_index(std::string_view text, std::string_view where);

/// A name out of a file, fit to be printed in one line.
std::string printable(std::string_view name);

}  // namespace bic::safetensors
