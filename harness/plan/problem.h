#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "generators/laws.h"
#include "results_schema/case_name.h"
#include "suites/ops/op_spec.h"

namespace bic {

/// Op, variant, dtype, dims, law and seed: what a case string holds beside its trials.
struct Problem {
  const OpSpec* op = nullptr;
  const Variant* variant = nullptr;
  DType dtype = DType::kFloat32;
  Dims dims;
  Attributes attributes;
  Law law = Law::kNormal;
  Seed seed;
  bool accuracy = false;  ///< judged against the oracle only, on single trials
  std::string id;         ///< of the public report it comes from; empty for a drawn one

  /// What the agreement of its bits would prove, from op, law and the length of the reduced axis.
  ControlKind proves() const;
  /// All inputs of a 16-bit type, each in a vector body and in a tail.
  bool sweeps() const;
  /// Extent of the reduced axes together; 1 when nothing is reduced.
  std::int64_t reduced_extent() const;
  /// The output's dtype: oracle, bound and controls are in it.
  DType output_dtype() const;
  /// Elements of one sample's output block.
  std::int64_t output_elements() const;
  /// Elements of one sample's own inputs and output.
  std::int64_t elements() const;
  /// Useful floating-point operations of one sample: two a term of a contraction, else about one
  /// an input element.
  std::int64_t flops() const;
};

/// Shortest reduced axis on which the controls of `op` in `dtype` can be told apart.
std::int64_t shortest_telling_axis(const OpSpec& op, DType dtype);

/// The case of `problem` with that relation and trials.
CaseName case_name(const Problem& problem,
                   std::string_view relation,
                   std::vector<Trial> trials,
                   std::optional<Law> neighbour_law);

/// "unknown op 'mn'; did you mean 'mm'?", and where nothing is near what declares an op.
std::string unknown_op(const std::string& name);

/// The problem of a case string. Throws UsageError when op, variant, dims, attributes or relation
/// do not fit the suite.
Problem problem_of(const CaseName& name);

/// One sample's inputs: for each input of the variant its bytes; empty for common ones.
using SampleBytes = std::vector<std::vector<std::byte>>;

/// The values of a problem's tensors.
class Inputs {
 public:
  explicit Inputs(const Problem& problem);

  const Problem& problem() const { return problem_; }
  bool is_common(std::size_t input) const { return shapes_.operands[input].common; }
  const std::vector<std::byte>& common(std::size_t input) const { return common_[input]; }

  /// The blocks of sample `id` under the problem's law, or under `law` for a hostile neighbour.
  SampleBytes sample(SampleId id, std::optional<Law> law = {}) const;

  /// Calls `use` with the sample's operands in double.
  template <class Use>
  void with_operands(const SampleBytes& sample, Use use) const {
    std::vector<std::vector<double>> values = widened(sample);
    Operands operands{
        {}, problem_.dims, problem_.attributes, problem_.variant->name, problem_.dtype};
    for (const auto& v : values) operands.values.emplace_back(v);
    use(operands);
  }

 private:
  std::vector<std::vector<double>> widened(const SampleBytes& sample) const;
  void trim(SampleBytes& sample) const;

  Problem problem_;
  FillProblem shapes_;
  std::vector<std::vector<std::byte>> common_;
  std::vector<std::vector<double>> common_wide_;
};

}  // namespace bic
