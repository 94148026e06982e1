#pragma once

#include <string>
#include <vector>

#include "adapters/libtorch/backend.h"
#include "generators/laws.h"
#include "suites/ops/op_spec.h"

namespace bic::libtorch {

/// A backend's largest error as a share of a bound, and where it is.
struct Worst {
  double share = 0;
  std::string where;
  bool operator<(const Worst& other) const { return share < other.share; }
};

/// Three samples of one op on small dims, drawn from `number`, for tests of declared arithmetic.
class AccuracyProblem {
 public:
  AccuracyProblem(const OpSpec& op, const Variant& variant, DType dtype, int number);

  /// Runs the samples as one batch and compares some elements of each with the oracle. Elements
  /// whose oracle or bound is not finite are not judged. An error where the bound is 0 is infinite.
  Worst judge(LibTorchBackend& backend, Storage storage, const Arithmetic& arithmetic) const;

 private:
  int samples() const { return static_cast<int>(operands_.size()); }
  void add_input(const FillProblem& fill_problem, std::size_t i);
  std::vector<double> sample_of(const std::vector<std::byte>& output, int sample) const;
  Worst judge_sample(const std::vector<double>& y, int sample, const Arithmetic& arithmetic) const;
  std::vector<std::int64_t> some_elements(std::int64_t count) const;

  const OpSpec& op_;
  const Variant& variant_;
  Law law_;
  protocol::ProblemMessage message_;
  std::vector<std::byte> pool_;
  std::vector<std::vector<std::vector<double>>> operands_;  ///< [sample][input][element]
  std::vector<std::int64_t> output_block_;
  DType output_dtype_ = DType::kFloat32;
};

}  // namespace bic::libtorch
