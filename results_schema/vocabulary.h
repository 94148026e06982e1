#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bic {

/// Element type of a subject's tensors.
enum class DType : std::uint8_t { kFloat32, kBFloat16, kFloat16, kFloat64 };
inline constexpr std::array kAllDTypes{
    DType::kFloat32, DType::kBFloat16, DType::kFloat16, DType::kFloat64};

/// Bytes of one element.
constexpr std::int64_t size_of(DType t) {
  return t == DType::kFloat64 ? 8 : t == DType::kFloat32 ? 4 : 2;
}

/// Bits of the significand, the implicit one included: 24, 8, 11, 53.
constexpr int precision(DType t) {
  switch (t) {
    case DType::kFloat32:
      return 24;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat16:
      return 11;
    case DType::kFloat64:
      return 53;
  }
  return 0;
}

/// How the inputs of a problem are drawn; `generators/laws.h` says what each is for.
enum class Law : std::uint8_t {
  kNormal,
  kUniform,
  kCancel,
  kEdge,
  kFactors,
  kWide,
  kOutlier,
  kLinspace,
  kOnes,
  kIntegers,
  kRamp,
  kMasks,
  kSweep,
  kSpecial,
  kNan,
  kInf,
  kDenormal,
  kHuge,
};
inline constexpr std::size_t kLawCount = 18;

/// How the call is made on the same samples.
enum class Form : std::uint8_t {
  kFunctional,
  kOut,      ///< the output is given
  kInplace,  ///< the first input is the output
  kChunk,    ///< an axis is cut into several calls, whose outputs are joined
  kVector,   ///< a single sample without its batch axis
  kJunk,     ///< what the call's own masks hide holds other values
  kStream,   ///< the functional call on a stream of its own, while the device has other work
  kGraph,    ///< the functional call captured into a graph, which is replayed
};
inline constexpr std::size_t kFormCount = 8;

/// Whether the form is a way to give work to a device: the text is that of the functional call.
constexpr bool is_of_device(Form f) { return f == Form::kStream || f == Form::kGraph; }

/// Whether the form writes to a tensor that the caller gave.
constexpr bool writes_given(Form f) { return f == Form::kOut || f == Form::kInplace; }

/// Outcome of one case; exactly one holds. In order of precedence, worst first.
enum class Status : std::uint8_t {
  kError,
  kCrash,
  kTimeout,
  kBlocked,
  kRefused,
  kUnstable,
  kFail,
  kVacuous,
  kPass,
  kUnexpectedPass,
  kWaived,
  kUnsupported,
  kSkipped,
};
inline constexpr std::size_t kStatusCount = 13;

/// Why a case has the status it has.
enum class Reason : std::uint8_t {
  // with fail
  kBits,
  kNanBits,
  kAccuracy,
  kShape,
  kDtype,
  kNanLeak,
  kOutOfBounds,
  kStaleOutput,
  kInputChanged,
  kNotCalled,
  // with vacuous
  kControls,
  kNonFinite,
  kWitness,
  // with crash
  kSignal,
  kException,
  kOutOfMemory,
  // with skipped
  kNoParallelRegion,
  kFiltered,
  kBudget,
  kShard,
};
inline constexpr std::size_t kReasonCount = 20;

/// Conformance level; each includes the ones before.
enum class Level : std::int8_t {
  kNone = -1,
  kRepeatable,
  kBatch,
  kComposition,
  kSchedule,
  kPlatform
};

/// Names as they are written everywhere: "bf16", "cancel", "out", "pass", "nan_bits", "BI-2"
/// ("none").
std::string_view name(DType);
std::string_view name(Law);
std::string_view name(Form);
std::string_view name(Status);
std::string_view name(Reason);
std::string_view name(Level);

/// The inverse of `name`; empty when no value has that name.
std::optional<DType> parse_dtype(std::string_view);
std::optional<Law> parse_law(std::string_view);
std::optional<Form> parse_form(std::string_view);
std::optional<Status> parse_status(std::string_view);
std::optional<Reason> parse_reason(std::string_view);
std::optional<Level> parse_level(std::string_view);

/// Red statuses gate: one of them makes a run not conform.
bool is_red(Status);

/// Identity of a sample: its data are a function of (seed, tensor, id, index) and nothing else.
struct SampleId {
  std::uint32_t value = 0;
  auto operator<=>(const SampleId&) const = default;
};

/// Where all values of a problem or of a run come from.
struct Seed {
  std::uint64_t value = 0;
  auto operator<=>(const Seed&) const = default;
};

/// Sixteen lower-case hex digits.
std::string to_string(Seed);
/// The inverse; also accepts fewer digits and a leading 0x. Empty when it is not hex.
std::optional<Seed> parse_seed(std::string_view);

/// Seed for a part of the work: a 64-bit mix of `seed` and the bytes of `label`, or of `seed` and
/// `number`. Part of what a seed means: changing it changes every case (vocabulary.cpp says how).
Seed derive(Seed seed, std::string_view label);
Seed derive(Seed seed, std::uint64_t number);

/// Extents by symbolic name, in lower case: {"k", 4096}. Never holds the batch "B".
using Dims = std::map<std::string, std::int64_t>;
/// Attributes by name, as text: real numbers in C hex-float.
using Attributes = std::map<std::string, std::string>;

}  // namespace bic
