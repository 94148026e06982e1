#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generators/dims.h"
#include "reference_kernels/oracle/reference.h"
#include "results_schema/vocabulary.h"

namespace bic {

/// What the elements of a tensor are: of the problem's dtype, int64 indices or bool.
enum class Elements : std::uint8_t { kValues, kIndices, kBools };

/// One tensor of an op; its axes as in results_schema/axis.h. "B" is placement `stack`, "t*B"
/// placement `concat`. A tensor without B is common to all samples.
struct TensorSpec {
  std::string name;
  std::vector<std::string> axes;
  Elements elements = Elements::kValues;
  std::string below;  ///< of kIndices: 0 <= index < this axis text's extent
  /// Of scores: what is appended to a masked axis is -Inf here, whose weight is exactly 0.
  bool masks = false;
};

/// What proves an op's bits, and why (see docs/ops.md).
enum class ControlKind : std::uint8_t {
  kOrder,  ///< a sum, whose controls add in other orders
  kTail,   ///< pointwise: vector body against tail
  kValue,  ///< judged against the oracle only
  kNone,   ///< moves bytes
};

/// One way users write the op: the tensors and attributes it takes and the call, as data.
/// A call is `(y) = aten::mm.default(x, w, name=value, …)` over the tensors' names, attributes
/// (`eps=eps`), dims in lists (`[h]`), literals (`-1`, `True`, `None`, `"tanh"`, `[1, 2]`).
struct Variant {
  std::string name;  ///< "" is the default one
  std::string call;
  std::vector<TensorSpec> inputs;
  TensorSpec output;
  std::vector<std::string> reduced;          ///< axes summed over; empty for pointwise
  std::string masked{};                      ///< of `reduced`: appended terms get no weight
  std::map<std::string, std::string> forms;  ///< further texts: "out", "inplace"
  Attributes attributes;
  std::optional<DType> output_dtype;  ///< where it is not the problem's
  std::vector<std::int64_t> batches;  ///< batch sizes to try, ascending; empty: the suite's list
  bool on_request = false;  ///< takes minutes and gigabytes: only where its preset is named
};

/// An op as the suite knows it: everything it needs to generate, run and judge it.
struct OpSpec {
  std::string name;
  std::string formula;  ///< one line, with its source
  std::string why;      ///< why these inputs can break it, one line for docs/ops.md
  std::string bound;    ///< of the error against the oracle, one line with its source
  std::vector<Variant> variants;
  std::vector<DType> dtypes{kAllDTypes.begin(), kAllDTypes.end()};
  ControlKind control = ControlKind::kOrder;
  std::vector<Law> laws;           ///< laws that prove bits, strongest first
  std::vector<Law> accuracy_laws;  ///< laws of the separate accuracy problems
  bool contraction = false;        ///< zero padding of the reduced axis must change nothing
  std::vector<DimRange> dims;      ///< every symbolic dim of every variant
  std::shared_ptr<const Reference> reference;
  std::string declared_sha256;  ///< of the file that a user declared it in; empty for the suite's
  /// Of a whole model, whose variants are its presets: the part of the suite that it is ("pi0").
  std::string suite;
};

/// The shape of one sample's block of `t` (all of it when common): the batch axis is 1 or its rows.
std::vector<std::int64_t> block_shape(const TensorSpec& t, const Dims& dims);

/// Index of the axis that grows with the batch, or -1 for a common tensor.
int batch_axis(const TensorSpec& t);

/// Indices of the axes of `t` that `variant` reduces over.
std::vector<int> reduced_axes(const TensorSpec& t, const Variant& variant);

/// The preset of a whole model that a variant is, as people type it: variant "tiny_ragged" is
/// preset "tiny-ragged".
std::string preset_name(const Variant& variant);

/// Whether an axis of one of the variant's tensors depends on the dim.
bool mentions(const Variant& variant, std::string_view dim);

/// Every op of the suite, in the order of the tables (suites/ops/registry.inc), and after them
/// those that were declared.
const std::vector<OpSpec>& registry();

/// Adds an op to the registry of this process, or puts it in the place of the one of its name:
/// before anything points into it.
void declare_op(OpSpec op);

/// The op of that name, or null.
const OpSpec* find_op(std::string_view name);

}  // namespace bic
