#include "adapters/faults/catalog_entries.h"

namespace bic::faults {
namespace {

Names every() { return {"mm", "linear", "bmm", "sum", "softmax", "layer_norm", "gelu"}; }

Entries wrong_outputs() {
  return {
      in({DType::kBFloat16},
         by(Reason::kDtype,
            "wrong-dtype",
            "returns its fp32 accumulators for 16-bit inputs",
            every(),
            {"repeat", "accuracy"})),
      in({DType::kFloat64},
         by(Reason::kDtype,
            "narrowed-result",
            "returns fp32 for fp64 inputs",
            every(),
            {"repeat", "accuracy"})),
      by(Reason::kShape,
         "transposed-output",
         "returns the output with its last axes swapped, as a gemm that computes the transposed "
         "product",
         {"mm", "bmm", "scaled_dot_product_attention"},
         {"repeat", "accuracy"}),
      by(Reason::kShape,
         "wrong-shape",
         "returns an axis too many, as a view that is not undone (vllm#27059: linear on ranks "
         "above 2)",
         every(),
         {"repeat", "accuracy"})};
}

Entries broken_promises() {
  return {by(Reason::kInputChanged,
             "scribbled-input",
             "writes to an input, as a workspace that shares its memory (pytorch#193402)",
             every(),
             {"repeat", "accuracy"}),
          by(Reason::kInputChanged,
             "packed-in-place",
             "leaves the weights as it packed them",
             {"mm", "linear", "bmm", "conv2d"},
             {"repeat", "accuracy"}),
          by(Reason::kNotCalled,
             "not-called",
             "claims overrides that calls go round (sglang#36291: the flag is on and has no "
             "effect)",
             {"mm", "bmm", "gelu"},
             {"repeat", "accuracy"}),
          in({DType::kBFloat16},
             by(Status::kRefused,
                "refuses",
                "claims bf16 and then declines it (vllm PR 52960: a shared memory limit found when "
                "the kernel is launched)",
                {"mm", "sum"},
                {"repeat", "accuracy"})),
          by(Status::kRefused,
             "refuses-unaligned",
             "claims every size and declines rows that are no multiple of 16, as fp8 kernels do",
             {"mm", "linear", "layer_norm"},
             {"repeat", "accuracy"})};
}

}  // namespace

Entries bounds_faults() {
  return {by(Reason::kOutOfBounds,
             "out-of-bounds",
             "writes one element past the end of the output, as a tile without a mask",
             every(),
             {"repeat", "accuracy"}),
          by(Reason::kOutOfBounds,
             "before-begin",
             "writes one element before the output's begin, as a halo that is stored",
             every(),
             {"repeat", "accuracy"}),
          by(Reason::kOutOfBounds,
             "input-overrun",
             "writes one element past the end of the first input, as padding in place",
             every(),
             {"repeat", "accuracy"}),
          by(Reason::kOutOfBounds,
             "aligned-store",
             "stores from the aligned address before an unaligned output (torch-xpu-ops#3105)",
             {"mm", "linear", "bmm", "sum", "softmax", "gelu"},
             {"forms"})};
}

Entries contract_faults() { return join(wrong_outputs(), broken_promises()); }

Entries death_faults() {
  return {by(Reason::kSignal,
             "crashes",
             "dies with a segmentation fault on 33 samples, as a table of tiles read past its end",
             {"mm"},
             {"alone", "permute"},
             Status::kCrash),
          by(Reason::kSignal,
             "aborts",
             "fails an assertion where the first input is not contiguous",
             {"softmax"},
             {"layout"},
             Status::kCrash),
          by(Reason::kException,
             "throws",
             "throws on 129 samples, as a launch whose grid does not fit",
             {"bmm", "softmax", "conv2d"},
             {"alone", "twins"},
             Status::kCrash),
          by(Status::kTimeout,
             "hangs",
             "never returns on 33 samples, as threads that wait for one another",
             {"mm"},
             {"alone", "permute"})};
}

}  // namespace bic::faults
