#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results_schema/vocabulary.h"

namespace bic {

/// Who stands beside the sample under test.
enum class Company : std::uint8_t {
  kNeighbours,  ///< other samples of the pool
  kTwins,       ///< copies of the sample itself, B times
};

/// Storage of the input tensors.
enum class Storage : std::uint8_t {
  kRowMajor,
  kTransposed,    ///< the last two axes lie in memory in swapped order
  kOuterSwapped,  ///< the first two axes do, of tensors of rank 3 and more: x.transpose(0, 1)
  kExpanded,      ///< stride 0 along the batch axis; only with twins
};

/// Number of the worker that runs the peer: the backend of `--against`.
inline constexpr int kPeerWorker = 2;

/// One run of an op: batch plan, form, layout and schedule. Defaults are not written in its token.
struct Trial {
  std::int64_t batch = 1;
  std::int64_t position = 0;
  SampleId sample;
  Company company = Company::kNeighbours;
  int neighbours = 0;  ///< number of the neighbour set; set 0 follows the problem's law, the others
                       ///< the case's neighbour law when it has one
  int permutation = 0;  ///< number of the seeded permutation applied to the plan; 0 is none
  int offset = 0;       ///< elements between an aligned address and the first element of each input
  int row_gap = 0;      ///< elements between two rows of each input (leading dimension)
  Storage storage = Storage::kRowMajor;
  Form form = Form::kFunctional;
  std::string pad_dim;   ///< dim that is extended; empty for none
  std::int64_t pad = 0;  ///< number of elements appended along pad_dim
  bool pad_nan = false;  ///< they are NaN instead of zeros; never of indices and bools (zeros) and
                         ///< of scores that mask (-Inf)
  int threads = 0;       ///< 0 is the run's default; -1 is "over", twice the cores
  int run = 0;           ///< repeats of the same trial count 0, 1, 2
  int worker = 0;        ///< 1: the second worker process of the run; kPeerWorker: the peer's
  auto operator<=>(const Trial&) const = default;
};

/// The one name of a case: everything needed to run it again, on any backend.
///
/// Text, with [] for what may be left out:
///   op[-variant].relation/dtype:dims[:attributes]:TRIAL[~TRIAL]:fill=law[+neighbour law]:s=seed
/// and after it `:id=c01` where the problem comes from a public report.
/// Dims are `k4096,n1024`, attributes `approximate=tanh,eps=0x1p-10`, both sorted by name. A TRIAL
/// is `B7@3#42` (batch, position, sample), then after commas, in this order and only where not
/// default: `plan=twins`, `nb=1`, `perm=2`, `o=3`, `ld=5`, `store=t|s|e`, `form=out|inplace`,
/// `<dim>pad=8` or `<dim>padnan=8`, `t=4|over`, `run=1`, `worker=1|2`. `@0` is not written. One
/// shell-safe token without quotes: ops, relations and attributes are [a-z][a-z0-9_]*, dims
/// [a-z][a-z_]*, variants [a-z0-9_]+, attribute values [A-Za-z0-9_.+-]+, ids [a-z][a-z0-9]*.
struct CaseName {
  std::string op;
  std::string variant;  ///< empty for the default one
  std::string relation;
  DType dtype = DType::kFloat32;
  Dims dims;
  Attributes attributes;
  std::vector<Trial> trials;  ///< one (accuracy) or two
  Law fill = Law::kNormal;
  std::optional<Law> neighbour_law;
  Seed seed;       ///< the problem's
  std::string id;  ///< of the public report the problem comes from; empty for a drawn one
  auto operator<=>(const CaseName&) const = default;
};

/// The text. Throws HarnessError when a field has none: an empty list of trials, a name outside the
/// grammar, a position outside the batch.
std::string to_string(const Trial&);
std::string to_string(const CaseName&);

/// The inverse of `to_string`: accepts exactly the canonical text.
/// Throws UsageError that names the field at fault, its text and what was expected there.
CaseName parse_case_name(std::string_view text);

}  // namespace bic
