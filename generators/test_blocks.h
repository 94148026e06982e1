#pragma once

// What the tests of this folder share: blocks as bytes and as numbers, and sums in several orders.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generators/laws.h"

namespace bic::testing_blocks {

inline std::size_t block_size(const FillProblem& problem, std::size_t index) {
  std::size_t size = 1;
  for (const std::int64_t extent : problem.operands[index].shape) {
    size *= static_cast<std::size_t>(extent);
  }
  return size;
}

inline std::vector<std::byte> bytes_of(const FillProblem& problem,
                                       std::size_t index,
                                       SampleId id = {}) {
  const auto width = static_cast<std::size_t>(size_of(problem.dtype));
  std::vector<std::byte> bytes(block_size(problem, index) * width);
  fill(problem, index, id, bytes);
  return bytes;
}

inline std::vector<double> values_of(const FillProblem& problem,
                                     std::size_t index,
                                     SampleId id = {}) {
  std::vector<double> values(block_size(problem, index));
  widen(problem.dtype, bytes_of(problem, index, id), values);
  return values;
}

/// x[1, k] times w[k, n], w common.
inline FillProblem matmul(DType dtype, Law law, std::int64_t k, std::int64_t n, Seed seed) {
  return {dtype, law, seed, {{"x", {1, k}, {1}, false}, {"w", {k, n}, {0}, true}}};
}

/// One operand x[k], reduced.
inline FillProblem row(DType dtype, Law law, std::int64_t k, Seed seed = {5}) {
  return {dtype, law, seed, {{"x", {k}, {0}, false}}};
}

enum class Sum { kSequential, kReversed, kHalves, kLanes16 };

inline float sequential(std::span<const float> terms) {
  float sum = 0;
  for (const float term : terms) sum += term;
  return sum;
}

inline float in_lanes(std::span<const float> terms) {
  float lanes[16] = {};
  for (std::size_t i = 0; i < terms.size(); ++i) lanes[i % 16] += terms[i];
  for (std::size_t width = 8; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

/// An fp32 sum of the terms.
inline float add(Sum order, std::span<const float> terms) {
  const std::size_t half = (terms.size() + 1) / 2;
  switch (order) {
    case Sum::kSequential:
      return sequential(terms);
    case Sum::kReversed:
      return sequential(std::vector<float>(terms.rbegin(), terms.rend()));
    case Sum::kHalves:
      return sequential(terms.first(half)) + sequential(terms.subspan(half));
    case Sum::kLanes16:
      return in_lanes(terms);
  }
  return 0;
}

/// Products of x and column `column` of w[k, n], each rounded to fp32.
inline std::vector<float> products(std::span<const double> x,
                                   std::span<const double> w,
                                   std::size_t columns,
                                   std::size_t column) {
  std::vector<float> terms(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    terms[k] = static_cast<float>(x[k]) * static_cast<float>(w[k * columns + column]);
  }
  return terms;
}

}  // namespace bic::testing_blocks
