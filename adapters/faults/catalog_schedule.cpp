#include "adapters/faults/catalog_entries.h"

namespace bic::faults {
namespace {

Entries by_address() {
  return {by_bits("misaligned",
                  "another order where the first input does not begin at 32 bytes (OpenBLAS#317)",
                  sums(),
                  {"layout"}),
          by_bits("misaligned-weights",
                  "another kernel where the second input does not begin at 16 bytes, as Triton "
                  "specialises on divisible addresses",
                  {"mm", "linear", "conv2d", "matmul", "scaled_dot_product_attention"},
                  {"layout"}),
          by_bits("row-alignment",
                  "another order for each row that does not begin at 32 bytes, which depends on "
                  "its place (OpenBLAS#317)",
                  {"mv", "mean", "vector_norm", "softmax", "rms_norm"},
                  {"alone", "twins", "permute", "layout"})};
}

Entries by_strides() {
  return {by_bits("strided",
                  "another order where the first input has gaps or swapped axes (modular#6712), "
                  "scalar loops where the op is pointwise",
                  sums_and({"gelu", "exp", "silu"}),
                  {"layout"}),
          by_bits("channels-last",
                  "another kernel where the channels lie last (pytorch#121651: channels last "
                  "against contiguous)",
                  {"conv2d", "group_norm", "batch_norm"},
                  {"layout"}),
          by_bits("broadcast-batch",
                  "another kernel where one sample is broadcast over the batch, as a view of "
                  "stride 0 that reaches gemv",
                  sums(),
                  {"layout"}),
          by(Reason::kAccuracy,
             "row-overread",
             "adds zero times what lies behind a row, as a vector load whose mask multiplies",
             {"mm", "linear", "sum", "softmax", "gelu"},
             {"layout"})};
}

}  // namespace

Entries layout_faults() { return join(by_address(), by_strides()); }

Entries thread_faults() {
  return {by_bits("thread-split",
                  "sums in another order with more than two threads (pytorch#88718, pytorch#2201)",
                  reductions(),
                  {"threads"}),
          by_bits("serial-kernel",
                  "one thread takes a kernel without partial sums (pytorch#88718: 1 against 6 "
                  "threads)",
                  sums_and({"conv2d", "scaled_dot_product_attention"}),
                  {"threads"}),
          by_bits("chunk-tails",
                  "each thread's part ends in scalar code, so that the number of threads moves the "
                  "tails (at::parallel_for over vectors)",
                  {"gelu", "exp"},
                  {"threads", "alone"})};
}

Entries form_faults() {
  return {by_bits("given-output",
                  "a given output and an in-place call reach another kernel, which the override "
                  "missed (vllm PR 52231)",
                  {"mm", "linear", "bmm", "sum", "softmax", "gelu"},
                  {"forms"}),
          by_bits("inplace-order",
                  "an in-place call reaches another kernel, for which no override was registered",
                  {"gelu", "exp", "addmm", "baddbmm"},
                  {"forms"}),
          by(Reason::kAccuracy,
             "beta-times-output",
             "adds zero times what the given output held, as a gemm that scales C by a beta of 0",
             {"mm", "linear", "bmm", "addmm", "baddbmm"},
             {"forms"}),
          by_bits("vector-order",
                  "a vector reaches a matrix-vector kernel of its own, as mv beside mm "
                  "(numpy#6887: gemv against dot)",
                  {"matmul"},
                  {"rank"})};
}

Entries padding_faults() {
  return {in({DType::kFloat32, DType::kBFloat16},
             by_bits("halves-of-k",
                     "always adds two halves of the contracted axis: the batch changes nothing, "
                     "but padding moves the middle",
                     contractions(),
                     {"zeropad"})),
          by_bits("unaligned-k",
                  "another kernel where the contracted axis fills no vectors of 8, as libraries "
                  "demand for their fast ones",
                  {"mm", "linear", "bmm", "matmul", "mv", "dot", "conv2d"},
                  {"zeropad"}),
          in({DType::kFloat32, DType::kBFloat16},
             by_bits("odd-row",
                     "another order for rows of an odd length, masked scores counted, whose last "
                     "one has no partner in a tree of pairs",
                     {"softmax", "log_softmax", "logsumexp", "scaled_dot_product_attention"},
                     {"zeropad"})),
          by(Reason::kNanLeak,
             "masked-nan",
             "multiplies masked values by zero where it should leave them out",
             attention(),
             {"pad"}),
          by_bits("padded-length",
                  "splits the keys by the length with padding (transformers#26869: padding to a "
                  "longer neighbour changes logits)",
                  attention(),
                  {"pad"})};
}

Entries attention_faults() {
  return {by_bits("decode-order",
                  "another order where a prefill is cut or a single token is decoded, as split KV "
                  "does (pegainfer#414)",
                  {"scaled_dot_product_attention", "bmm", "softmax", "log_softmax"},
                  {"chunk"}),
          by_bits("split-by-longest",
                  "splits the keys by those of the longest sample of the batch (vllm#51902, "
                  "flash-attention#1897)",
                  attention(),
                  {"alone", "neighbours"}),
          by(Reason::kAccuracy,
             "mask-off-by-one",
             "applies the mask one key too far",
             attention(),
             {"accuracy"}),
          by(Reason::kAccuracy,
             "scale-ignored",
             "scales scores by 1/sqrt(e) whatever scale the caller gave",
             attention(),
             {"accuracy"}),
          by(Reason::kAccuracy,
             "heads-interleaved",
             "gives query head i the keys of head i mod 2 instead of i / 4: repeats the key heads "
             "where it should repeat each",
             attention(),
             {"accuracy"})};
}

}  // namespace bic::faults
