#include "results_schema/vocabulary.h"

#include <charconv>

namespace bic {
namespace {

using std::string_view_literals::operator""sv;

// Each table holds the names in the order of its enum.
constexpr std::array kDTypeNames{"fp32"sv, "bf16"sv, "fp16"sv, "fp64"sv};

constexpr std::array kLawNames{"normal"sv,
                               "uniform"sv,
                               "cancel"sv,
                               "edge"sv,
                               "factors"sv,
                               "wide"sv,
                               "outlier"sv,
                               "linspace"sv,
                               "ones"sv,
                               "integers"sv,
                               "ramp"sv,
                               "masks"sv,
                               "sweep"sv,
                               "special"sv,
                               "nan"sv,
                               "inf"sv,
                               "denormal"sv,
                               "huge"sv};
static_assert(kLawNames.size() == kLawCount);

constexpr std::array kFormNames{
    "functional"sv, "out"sv, "inplace"sv, "chunk"sv, "vector"sv, "junk"sv, "stream"sv, "graph"sv};
static_assert(kFormNames.size() == kFormCount);

constexpr std::array kStatusNames{"error"sv,
                                  "crash"sv,
                                  "timeout"sv,
                                  "blocked"sv,
                                  "refused"sv,
                                  "unstable"sv,
                                  "fail"sv,
                                  "vacuous"sv,
                                  "pass"sv,
                                  "unexpected_pass"sv,
                                  "waived"sv,
                                  "unsupported"sv,
                                  "skipped"sv};
static_assert(kStatusNames.size() == kStatusCount);

constexpr std::array kReasonNames{
    "bits"sv,          "nan_bits"sv,           "accuracy"sv,     "shape"sv,         "dtype"sv,
    "nan_leak"sv,      "out_of_bounds"sv,      "stale_output"sv, "input_changed"sv, "not_called"sv,
    "controls"sv,      "non_finite"sv,         "witness"sv,      "signal"sv,        "exception"sv,
    "out_of_memory"sv, "no_parallel_region"sv, "filtered"sv,     "budget"sv,        "shard"sv};
static_assert(kReasonNames.size() == kReasonCount);

// Level -1 comes first.
constexpr std::array kLevelNames{"none"sv, "BI-0"sv, "BI-1"sv, "BI-2"sv, "BI-3"sv, "BI-4"sv};
constexpr int kLowestLevel = static_cast<int>(Level::kNone);

template <typename Enum, std::size_t N>
std::optional<Enum> parse_in(const std::array<std::string_view, N>& names,
                             std::string_view text,
                             int first = 0) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(static_cast<int>(i) + first);
  }
  return std::nullopt;
}

// Finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014; constants of Stafford's variant 13):
// a bijection of 64 bits in which each input bit flips about half of the output bits.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// FNV-1a, 64 bits.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

// Odd, from the golden ratio. Its multiples keep labels and numbers in streams of their own, and
// seed 0 from mapping to 0.
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;

}  // namespace

std::string_view name(DType t) { return kDTypeNames.at(static_cast<std::size_t>(t)); }
std::string_view name(Law l) { return kLawNames.at(static_cast<std::size_t>(l)); }
std::string_view name(Form f) { return kFormNames.at(static_cast<std::size_t>(f)); }
std::string_view name(Status s) { return kStatusNames.at(static_cast<std::size_t>(s)); }
std::string_view name(Reason r) { return kReasonNames.at(static_cast<std::size_t>(r)); }
std::string_view name(Level l) {
  return kLevelNames.at(static_cast<std::size_t>(static_cast<int>(l) - kLowestLevel));
}

std::optional<DType> parse_dtype(std::string_view s) { return parse_in<DType>(kDTypeNames, s); }
std::optional<Law> parse_law(std::string_view s) { return parse_in<Law>(kLawNames, s); }
std::optional<Form> parse_form(std::string_view s) { return parse_in<Form>(kFormNames, s); }
std::optional<Status> parse_status(std::string_view s) { return parse_in<Status>(kStatusNames, s); }
std::optional<Reason> parse_reason(std::string_view s) { return parse_in<Reason>(kReasonNames, s); }
std::optional<Level> parse_level(std::string_view s) {
  return parse_in<Level>(kLevelNames, s, kLowestLevel);
}

bool is_red(Status s) {
  switch (s) {
    case Status::kCrash:
    case Status::kTimeout:
    case Status::kBlocked:
    case Status::kRefused:
    case Status::kUnstable:
    case Status::kFail:
    case Status::kUnexpectedPass:
      return true;
    case Status::kError:  // exits 4: the harness failed, which says nothing of the subject
    case Status::kVacuous:
    case Status::kPass:
    case Status::kWaived:
    case Status::kUnsupported:
    case Status::kSkipped:
      return false;
  }
  return false;
}

std::string to_string(Seed seed) {
  std::string text(16, '0');
  for (int i = 0; i < 16; ++i) {
    text[static_cast<std::size_t>(i)] = "0123456789abcdef"[(seed.value >> (60 - 4 * i)) & 15];
  }
  return text;
}

std::optional<Seed> parse_seed(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  if (text.empty() || text.size() > 16) return std::nullopt;
  Seed seed;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed.value, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return seed;
}

// For one seed, different numbers give different seeds: every step is a bijection. The seed is
// mixed before the number enters, so that neighbouring seeds and neighbouring numbers do not meet.
Seed derive(Seed seed, std::uint64_t number) { return {mix(mix(seed.value + kGolden) ^ number)}; }

Seed derive(Seed seed, std::string_view label) {
  return {mix(mix(seed.value + 2 * kGolden) ^ fnv1a(label))};
}

}  // namespace bic
