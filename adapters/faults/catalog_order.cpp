#include "adapters/faults/catalog_entries.h"

namespace bic::faults {

Entries split_faults() {
  return {
      // In fp32 the order of a mean square shows too rarely, in bf16 beside a boundary (law edge).
      in({DType::kFloat32, DType::kBFloat16},
         by_bits("split-by-batch",
                 "sums in another order from 8 samples on, as a library that picks its kernel by "
                 "the batch (pytorch#136338, vllm#55131)",
                 reductions(),
                 {"alone", "twins"})),
      in({DType::kBFloat16},
         by_bits("block-by-rows",
                 "reduces rows with another block from 256 samples on (vllm#48271: 256 threads a "
                 "row instead of 1024)",
                 {"rms_norm", "group_norm", "softmax", "var_mean"},
                 {"alone"})),
      in({DType::kBFloat16, DType::kFloat16},
         by_bits("product-lanes",
                 "multiplies along lanes from 8 samples on, along the row below",
                 {"prod"},
                 {"alone", "twins"})),
      in({DType::kFloat16},
         by_bits("small-batch-kernel",
                 "fewer than 4 samples take a kernel of their own (lc0 PR 957: cuDNN's fp16 "
                 "convolutions)",
                 {"conv2d", "conv1d", "bmm"},
                 {"alone", "twins"})),
      in({DType::kBFloat16},
         by_bits("split-k-at-one",
                 "splits a product's sum for one sample only (sglang PR 39657: split K at M=1, "
                 "TransformerEngine#2986)",
                 {"mm", "matmul", "bmm"},
                 {"alone", "twins"})),
      by_bits("width-classes",
              "5 to 8 samples are a class with an order of its own (llama.cpp#24962: widths 3 "
              "and 4 against 5, 6 and 8)",
              {"matmul", "mv", "addmm", "scaled_dot_product_attention"},
              {"alone", "twins"})};
}

Entries tail_faults() {
  return {by_bits("tile-by-batch",
                  "the samples of the last, partial tile of 16 take an edge kernel (pytorch#60234: "
                  "bits change at 16)",
                  sums(),
                  {"alone", "twins", "permute"}),
          by_bits("scalar-tail",
                  "the last elements that fill no vector are computed by other code, as ATen's "
                  "scalar tails of GELU",
                  {"gelu", "exp", "rsqrt"},
                  {"alone"}),
          // Scans of fp32 sum in fp64, so that no order of theirs shows.
          in({DType::kFloat64},
             by_bits("scan-tail",
                     "the last elements of the last row of a scan are computed by other code",
                     {"cumsum"},
                     {"alone", "twins"}))};
}

Entries place_faults() {
  return {by_bits("one-batch-size",
                  "changes its order for 257 samples only, one more than a table of tiles ends "
                  "with",
                  sums(),
                  {"alone"}),
          by_bits("last-position",
                  "the last sample of a batch takes another path (tensorflow#39707: the last row "
                  "goes astray)",
                  sums(),
                  {"alone", "twins", "permute"}),
          by_bits("first-row-only",
                  "every row but the first takes another path (mlx#3494: RoPE of the second row "
                  "on)",
                  {"rotary", "scaled_dot_product_attention"},
                  {"alone", "twins", "permute"}),
          by_bits("beside-tile-edge",
                  "the first sample of the second tile of 16 takes another path, as a loop that is "
                  "peeled at the edge",
                  {"conv2d", "bmm", "addmm", "mean", "rms_norm"},
                  {"alone", "twins", "permute"}),
          by_bits("odd-lane",
                  "the second row of each pair is summed otherwise (pytorch#192420: equal rows of "
                  "one product differ)",
                  {"linear", "conv1d", "group_norm", "baddbmm", "scaled_dot_product_attention"},
                  {"alone", "twins", "permute"}),
          by_bits("one-lane",
                  "row 100 of exactly 128 is summed otherwise, as one lane of one shape's kernel",
                  sums(),
                  {"permute"}),
          by_bits("shared-prefix",
                  "another order where all samples hold the same, as attention that reads a shared "
                  "prefix once (cascade attention of flashinfer)",
                  sums_and({"scaled_dot_product_attention"}),
                  {"twins"})};
}

}  // namespace bic::faults
