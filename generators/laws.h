#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "results_schema/vocabulary.h"

namespace bic {

// What each law is for. "Along" an operand means along its reduced axes, flattened row-major.
//
// normal    Sum of four uniforms (Irwin-Hall), mean 0, variance 1, inside +-2 sqrt(3): values as
//           networks have them, at full significands, so that no sum of them is exact. Shows a
//           reordering in fp32 and fp64, in 16-bit outputs hardly ever.
// uniform   Uniform on [-1, 1), full significands.
// cancel    A law of the problem: the first reduced operand holds m and -m at k and k + ceil(K/2),
//           the others equal factors there, magnitudes 2^+-12, and about an eighth of the pairs
//           independent terms of scale 2^-7. Large products cancel exactly, what is left carries
//           their rounding errors: shows a reordering in 16-bit outputs. Were the factors not
//           paired, nothing would cancel. In fp16 nine exponents, and sums below 2^15. Operands
//           whose reduced axes differ in length (convolutions) are paired along the first of them;
//           below four channels along rows half a tap height apart, with alternating signs.
// edge      normal, and `trim_to_edge` after it: sums of positive terms, where nothing cancels.
// factors   For products: 1 to 5/4, or the reciprocal of such a number, random signs, full
//           significands: products of some hundred stay in fp16's range, and in fp32 each factor
//           rounds. In 16 bits `trim_factors` comes after it, for random products show no order.
// wide      Log-uniform magnitudes 2^-20 to 2^21, random signs: small terms vanish or survive by
//           their company. In fp16 seven exponents, placed so that sums stay below 2^15.
// outlier   normal, with a few channels (1 in 128, at least one, the same in all samples) 64 times
//           larger, along the first reduced operand or, without one, its last axis.
// linspace  -100 to 100 over the block: the input of public demonstrations. All samples are equal.
// ones      Sums count their terms: shows a term dropped or added twice, never an order.
// integers  -4 to 4: exact sums with signs.
// ramp      Odd integers of 12 bits (26 in fp64; 8 and 11 in the 16-bit types) facing +-1, sums of
//           magnitudes at most 2^24: exact in any order, so an input rounded to TF32 or bf16 on its
//           way shows. The last term along is as large as all others together: a dropped tail
//           shows.
// masks     Ones with one +huge and one -huge at seeded places along the first reduced operand: the
//           sum counts the terms that met neither first, and so tells the summation tree
//           (P. Xie et al., "FPRev", arXiv:2411.00442). Other operands are ones.
// sweep     Pointwise. In 16 bits element i of sample s holds pattern (s * h + i) * odd + offset, h
//           being the block's elements: all 65,536 within as many consecutive indices. In fp32 and
//           fp64 uniform on [-12, 12], with an eighth tiny and an eighth large.
// special   1/16 each of NaN, +Inf, -Inf and -0, 1/8 subnormals, else normal.
// nan, inf, denormal, huge  Nothing but canonical NaN; +-Inf; subnormals; values of the largest
//           binade. For neighbours: a leak of any into a sample shows.

/// One input as the laws see it.
struct OperandShape {
  std::string name;                 ///< enters the seed of its values
  std::vector<std::int64_t> shape;  ///< block of one sample; the whole tensor when common
  std::vector<int> reduced;         ///< axes summed over; empty for a bias
  bool common = false;
};

/// What a law needs to know of a problem. All values of all operands are a function of it, the
/// operand's index, the sample id and the element's index: of nothing else.
struct FillProblem {
  DType dtype = DType::kFloat32;
  Law law = Law::kNormal;
  Seed seed;
  std::vector<OperandShape> operands;
};

/// Writes the block of operand `index` for sample `id` (ignored for a common operand) row-major
/// into `out`, in the problem's dtype. `out` holds the block's elements times size_of(dtype) bytes.
/// Law kEdge fills as kNormal. What is_trimmed is not finished before `trim`.
void fill(const FillProblem& problem, std::size_t index, SampleId id, std::span<std::byte> out);

/// Law `edge`: moves about ten elements of `block` (elements of operand values in double, each
/// exact in `dtype`) so that `wide_output(block)`, an output's value in full precision, lies as
/// near as possible to a rounding boundary of `dtype`. `row` are the indices into `block` of the
/// reduced row on which that output depends. Deterministic: + - x / only.
void trim_to_edge(std::span<double> block,
                  std::span<const std::int64_t> row,
                  DType dtype,
                  const std::function<double(std::span<const double>)>& wide_output);

/// Law `factors`: the same for an output that is the product of its row, of which five elements are
/// moved: no single element of a product can be stepped finely enough. In 16 bits only.
void trim_factors(std::span<double> block,
                  std::span<const std::int64_t> row,
                  DType dtype,
                  const std::function<double(std::span<const double>)>& wide_output);

/// The one of the two that the law asks for.
inline constexpr bool is_trimmed(Law law) { return law == Law::kEdge || law == Law::kFactors; }
void trim(Law law,
          std::span<double> block,
          std::span<const std::int64_t> row,
          DType dtype,
          const std::function<double(std::span<const double>)>& wide_output);

/// Exact conversions between a dtype's bytes and double. `narrow` rounds to nearest even once, from
/// double; NaN becomes the dtype's canonical quiet NaN.
void widen(DType dtype, std::span<const std::byte> in, std::span<double> out);
void narrow(DType dtype, std::span<const double> in, std::span<std::byte> out);
double round_to(DType dtype, double value);

}  // namespace bic
