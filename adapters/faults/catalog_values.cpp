#include <utility>

#include "adapters/faults/catalog_entries.h"

namespace bic::faults {
namespace {

Entries rounded_inputs() {
  const Reason accuracy = Reason::kAccuracy;
  const Names sees{"accuracy"};
  return {
      by(accuracy,
         "tf32-inputs",
         "rounds fp32 factors to ten explicit bits (vllm#55131: TF32 where fp32 was asked for)",
         contractions(),
         sees),
      by(accuracy,
         "bf16-inputs",
         "rounds fp32 factors to bf16, as oneDNN does in its bf16 mode",
         {"mm", "addmm", "conv2d", "matmul", "scaled_dot_product_attention"},
         sees),
      by(accuracy,
         "bf16-integers",
         "takes whole numbers through bf16, which has no odd ones above 256 "
         "(batch_invariant_ops#23: half of arange(8192) is wrong)",
         {"mm", "linear", "bmm", "sum"},
         sees),
      by(accuracy,
         "bf16-phases",
         "rounds the cosines and sines of the positions to bf16 (batch_invariant_ops#23: RoPE's "
         "phases)",
         {"rotary"},
         sees),
      by(accuracy,
         "half-exp",
         "rounds what goes into exp to fp16, as packed half-precision exps do",
         {"exp", "sigmoid", "silu", "softmax", "logsumexp"},
         sees)};
}

Entries rounded_inside() {
  const Reason accuracy = Reason::kAccuracy;
  const Names sees{"accuracy"};
  return {
      in({DType::kBFloat16, DType::kFloat16},
         by(accuracy,
            "sixteen-bit-partials",
            "adds four partial sums in the output's 16 bits (pytorch#83863: ones of 1024 come "
            "out wrong in bf16)",
            {"mm", "bmm", "matmul", "mv", "sum"},
            sees)),
      in({DType::kBFloat16, DType::kFloat16},
         by(accuracy,
            "rounded-before-bias",
            "rounds the product to 16 bits before the bias is added, as addmm through bmm does",
            {"linear"},
            sees)),
      in({DType::kFloat64},
         by(accuracy,
            "single-inside",
            "computes fp64 in fp32, as devices without double do",
            {"mm", "sum", "softmax", "layer_norm", "exp", "conv2d", "scaled_dot_product_attention"},
            sees)),
      by(accuracy,
         "approximate-gelu",
         "computes GELU by tanh whatever was asked for",
         {"gelu"},
         sees)};
}

Entries wrong_constants() {
  const Reason accuracy = Reason::kAccuracy;
  const Names sees{"accuracy"};
  return {by(accuracy,
             "alpha-ignored",
             "leaves the factor of the product out, as a fused epilogue that knows one case "
             "(pytorch#136299)",
             {"addmm", "baddbmm"},
             sees),
          by(accuracy,
             "beta-ignored",
             "leaves the factor of the bias out, as a fused epilogue that knows one case",
             {"addmm", "baddbmm"},
             sees),
          by(accuracy,
             "bias-ignored",
             "leaves the bias out",
             {"linear", "conv2d", "layer_norm", "group_norm", "batch_norm"},
             sees),
          by(accuracy,
             "wrong-eps",
             "adds 16 eps to the variance, as a constant of another model's (1e-6 against 1e-5)",
             {"layer_norm", "rms_norm", "group_norm"},
             sees),
          by(accuracy,
             "correction-ignored",
             "divides by n where n - 1 was asked for",
             {"var", "std"},
             sees)};
}

Entries wrong_terms() {
  const Reason accuracy = Reason::kAccuracy;
  const Names sees{"accuracy"};
  return {by(accuracy,
             "dropped-tail",
             "ignores the last index of the summed axis, as a tail loop that ends one step early",
             {"mm", "linear", "bmm", "sum"},
             sees),
          by(accuracy,
             "zero-skip",
             "leaves out the term behind a zero, as kernels of sparse rows whose index is one off",
             {"linear", "bmm"},
             sees),
          by(accuracy,
             "constant-tile",
             "counts one term too few where all values are equal, as tiles stored as a value and a "
             "count",
             {"mm", "linear", "bmm", "sum"},
             sees),
          by(accuracy,
             "single-term",
             "doubles a sum of one term (batch_invariant_ops#23: ones(1,1) x arange is wrong)",
             {"mm", "linear", "bmm", "sum"},
             sees),
          by(Reason::kBits,
             "lost-last-row",
             "leaves zeros in the last row (tensorflow#39707)",
             {"mm", "conv2d", "softmax"},
             {"alone", "twins", "permute"})};
}

}  // namespace

Entries precision_faults() { return join(rounded_inputs(), rounded_inside()); }

Entries formula_faults() { return join(wrong_constants(), wrong_terms()); }

Entries special_value_faults() {
  Fault nan_bits = in({DType::kBFloat16},
                      by(Reason::kNanBits,
                         "signed-nan-tail",
                         "writes NaNs of another sign in the tail, as ATen's scalar code does",
                         {"exp", "sin", "gelu", "sigmoid"},
                         {"alone"}));
  nan_bits.keeps_accuracy = true;
  return {std::move(nan_bits),
          in({DType::kBFloat16},
             by_bits("unsigned-zero-tail",
                     "writes +0 for -0 in the tail, as code that begins with a sum of 0",
                     {"sin", "tanh", "silu"},
                     {"alone"})),
          in({DType::kFloat16},
             by(Reason::kAccuracy,
                "flushed-outputs",
                "flushes subnormal results to zero",
                {"mul", "exp", "sigmoid", "softmax"},
                {"accuracy", "alone"})),
          in({DType::kFloat16},
             by(Reason::kAccuracy,
                "flushed-inputs",
                "takes subnormal inputs for zeros",
                {"sin", "tanh", "gelu"},
                {"alone"})),
          in({DType::kFloat16},
             by(Reason::kAccuracy,
                "saturating-cast",
                "stores the largest number where a result overflows, as casts to fp8 do",
                {"exp", "pow"},
                {"alone"})),
          in({DType::kBFloat16},
             by(Reason::kAccuracy,
                "finite-math",
                "makes NaN a zero, as compilers that were told there is none",
                {"exp", "gelu", "tanh"},
                {"alone"}))};
}

Entries stale_faults() {
  return {by(Reason::kStaleOutput,
             "stale-output",
             "never writes the last element of the last sample (vllm#42019: uninitialised memory "
             "is returned)",
             {"mm", "linear", "bmm", "sum", "softmax", "layer_norm", "gelu"},
             {"repeat", "accuracy"}),
          by(Reason::kStaleOutput,
             "grid-limit",
             "never writes the samples past 256 (pytorch#25241: bmm's rows past the grid's limit)",
             {"bmm", "softmax", "conv2d", "rms_norm"},
             {"alone"}),
          by(Reason::kAccuracy,
             "dirty-workspace",
             "adds zero times a workspace that nothing wrote",
             {"mm", "sum", "softmax", "conv2d"},
             {"accuracy", "repeat"}),
          by(Reason::kBits,
             "previous-output",
             "leaves what the call before of that shape computed in the last sample, as two "
             "buffers that are swapped too early",
             {"mm", "softmax", "layer_norm", "gelu"},
             {"permute", "layout"},
             Status::kUnstable)};
}

}  // namespace bic::faults
