#include "suites/models/safetensors/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "results_schema/error.h"
#include "results_schema/json.h"

namespace bic::safetensors {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // what the format's own reader allows

/// What all errors of a file begin with.
struct File {
  std::string_view where;

  template <class... Parts>
  [[noreturn]] void refuse(fmt::format_string<const Parts&...> why, const Parts&... parts) const {
    throw UsageError(fmt::format("{}: {}", where, fmt::format(why, parts...)));
  }
};

std::uint64_t header_length(std::span<const std::byte> bytes, const File& file) {
  if (bytes.size() < kLengthBytes) {
    file.refuse("{} bytes are too few for a safetensors file; copy it again", bytes.size());
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  if (length > kLongestHeader) {
    file.refuse("a header of {} bytes is longer than the {} that are allowed; is it safetensors?",
                length,
                kLongestHeader);
  }
  if (length > bytes.size() - kLengthBytes) {
    file.refuse(
        "truncated: a header of {} bytes in a file of {}; copy it again", length, bytes.size());
  }
  return length;
}

/// The member of that name, of that kind.
const json& member(const json& entry, const char* key, const std::string& name, const File& file) {
  const auto found = entry.find(key);
  if (found == entry.end()) file.refuse("tensor {} has no '{}'", name, key);
  return *found;
}

std::uint64_t natural(const json& value, const std::string& name, const File& file) {
  if (!value.is_number_unsigned()) {
    file.refuse("tensor {}: {} is no size or offset", name, value.dump().substr(0, 40));
  }
  return value.get<std::uint64_t>();
}

/// The bytes of a shape; refuses what does not fit 63 bits.
std::uint64_t bytes_of(const Entry& e, const std::string& name, const File& file) {
  const std::uint64_t size = element_bytes(e.dtype);
  if (size == 0) file.refuse("tensor {}: no dtype {} in safetensors", name, printable(e.dtype));
  std::uint64_t bytes = size;
  for (const std::int64_t dim : e.shape) {
    if (dim != 0 && bytes > static_cast<std::uint64_t>(INT64_MAX) / dim) {
      file.refuse("tensor {}: its shape has more elements than memory", name);
    }
    bytes *= dim;
  }
  return bytes;
}

Entry read_entry(const std::string& key, const json& value, std::uint64_t data, const File& file) {
  const std::string name = printable(key);
  if (!value.is_object()) file.refuse("tensor {} is described by no object", name);
  Entry e{key, "", {}, 0, 0};
  const json& dtype = member(value, "dtype", name, file);
  const json& shape = member(value, "shape", name, file);
  const json& offsets = member(value, "data_offsets", name, file);
  if (!dtype.is_string()) file.refuse("tensor {}: its dtype is no text", name);
  if (!shape.is_array()) file.refuse("tensor {}: its shape is no list", name);
  if (!offsets.is_array() || offsets.size() != 2) {
    file.refuse("tensor {}: its data_offsets are not two numbers", name);
  }
  e.dtype = dtype.get<std::string>();
  for (const json& dim : shape) {
    e.shape.push_back(static_cast<std::int64_t>(natural(dim, name, file)));
  }
  const std::uint64_t begin = natural(offsets[0], name, file);
  const std::uint64_t end = natural(offsets[1], name, file);
  const std::uint64_t wanted = bytes_of(e, name, file);
  if (end < begin || end - begin != wanted) {
    file.refuse(
        "tensor {} has bytes {} to {}, its shape and dtype {} bytes", name, begin, end, wanted);
  }
  if (end > UINT64_MAX - data) file.refuse("tensor {} ends at byte {}", name, end);
  e.begin = data + begin;
  e.end = data + end;
  return e;
}

/// Every byte behind the header is of one tensor. `entries` are in the order of their bytes.
void check_bytes(const std::vector<Entry>& entries,
                 std::uint64_t data,
                 std::uint64_t size,
                 const File& file) {
  std::uint64_t reached = data;
  std::string before = "the header";
  for (const Entry& e : entries) {
    const std::string name = printable(e.name);
    if (e.end > size) {
      file.refuse("truncated: tensor {} ends at byte {} of {}; copy it again", name, e.end, size);
    }
    if (e.begin < reached) {
      file.refuse(
          "tensor {} at byte {} overlaps {}, which ends at {}", name, e.begin, before, reached);
    }
    if (e.begin > reached) {
      file.refuse("bytes {} to {}, before tensor {}, are of no tensor", reached, e.begin, name);
    }
    reached = e.end;
    before = name;
  }
  if (reached < size) file.refuse("the last {} bytes are of no tensor", size - reached);
}

}  // namespace

std::uint64_t element_bytes(std::string_view dtype) {
  static constexpr std::pair<std::string_view, std::uint64_t> kSizes[] = {{"F64", 8},
                                                                          {"F32", 4},
                                                                          {"F16", 2},
                                                                          {"BF16", 2},
                                                                          {"F8_E4M3", 1},
                                                                          {"F8_E5M2", 1},
                                                                          {"I64", 8},
                                                                          {"I32", 4},
                                                                          {"I16", 2},
                                                                          {"I8", 1},
                                                                          {"U64", 8},
                                                                          {"U32", 4},
                                                                          {"U16", 2},
                                                                          {"U8", 1},
                                                                          {"BOOL", 1}};
  for (const auto& [name, size] : kSizes) {
    if (name == dtype) return size;
  }
  return 0;
}

std::string printable(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  const bool cut = name.size() > kLongest;
  return json(name.substr(0, kLongest)).dump(-1, ' ', true, json::error_handler_t::replace) +
         (cut ? "..." : "");
}

std::vector<Entry> describe(std::span<const std::byte> bytes, std::string_view where) {
  const File file{where};
  const std::uint64_t length = header_length(bytes, file);
  const std::uint64_t data = kLengthBytes + length;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  const json header = read_json(text, fmt::format("{}: header", where));
  if (!header.is_object()) file.refuse("its header is no JSON object; is it safetensors?");
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name != "__metadata__") entries.push_back(read_entry(name, value, data, file));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_bytes(entries, data, bytes.size(), file);
  return entries;
}

std::map<std::string, std::string> read_index(std::string_view text, std::string_view where) {
  const File file{where};
  const json index = read_json(text, where);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    file.refuse("no 'weight_map' of tensors to files; is it the index of a sharded checkpoint?");
  }
  std::map<std::string, std::string> map;
  for (const auto& [name, shard] : index["weight_map"].items()) {
    const std::string path = shard.is_string() ? shard.get<std::string>() : "";
    const bool plain = !path.empty() && path != "." && path != ".." &&
                       path.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
    if (!plain) {
      file.refuse("tensor {}: {} is no name of a file beside the index",
                  printable(name),
                  printable(shard.dump()));
    }
    map[name] = path;
  }
  if (map.empty()) file.refuse("its 'weight_map' names no tensor");
  return map;
}

}  // namespace bic::safetensors
