#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results_schema/vocabulary.h"

namespace bic {

/// The inputs of one sample, widened: every value of every dtype is exact in double.
struct Operands {
  std::vector<std::span<const double>> values;  ///< by input, row-major; common tensors whole
  Dims dims;
  Attributes attributes;
  std::string variant = {};       ///< name of the op's variant
  DType dtype = DType::kFloat32;  ///< the problem's; a variant's output may have another
};

/// Order in which a control adds up the reduced axis.
enum class Order : std::uint8_t {
  kSequential,
  kReversed,
  kHalves,   ///< the two halves, each in sequence, then their sum
  kLanes16,  ///< 16 interleaved sums, then a tree over them
  kPairwise,
};
/// The controls proper: if no two of them differ on some inputs, those prove nothing.
inline constexpr std::array kControlOrders{Order::kReversed, Order::kHalves, Order::kLanes16};

/// How an implementation computes, as far as its error depends on it. Data: it is part of
/// manifests.
struct Arithmetic {
  DType accumulator = DType::kFloat32;  ///< type of sums: fp32, fp64 or the subject's own
  /// Error of exp, tanh and erf in units in the last place of the accumulator type.
  int elementary_ulps = 2;
  /// How the value is put together, by op: "" the textbook form; layer_norm "ax+b"; gelu "1+erf";
  /// linear "round-before-bias"; variance "one-pass".
  std::string form;
  bool flushes_subnormals = false;
  std::string source;  ///< where each entry was read
  auto operator<=>(const Arithmetic&) const = default;
};

/// A value in more precision than the subject's: hi + lo, lo being 0 for subjects of <= 32 bits.
struct Wide {
  double hi = 0;
  double lo = 0;
};

/// The maths of one op on one sample, in several precisions and orders. `elements` are row-major
/// indices into the sample's output block, ascending. Stateless and safe to share by threads.
class Reference {
 public:
  virtual ~Reference() = default;

  /// The oracle: fp64 for subjects of <= 32 bits, double-double for fp64.
  virtual void wide(const Operands&,
                    DType subject,
                    std::span<const std::int64_t> elements,
                    std::span<Wide> y) const = 0;

  /// Largest |y - oracle| of an honest implementation of `arithmetic`, the rounding to the
  /// subject's type included. Positive wherever the output can be inexact, finite for finite
  /// operands.
  virtual void bound(const Operands&,
                     DType subject,
                     const Arithmetic&,
                     std::span<const std::int64_t> elements,
                     std::span<double> bound) const = 0;

  /// An honest evaluation in the op's reference arithmetic (fp32 sums, fp64 for fp64 subjects)
  /// in `order`, rounded to the subject's type and widened again.
  virtual void control(const Operands&,
                       DType subject,
                       Order order,
                       std::span<const std::int64_t> elements,
                       std::span<double> y) const = 0;
};

}  // namespace bic
