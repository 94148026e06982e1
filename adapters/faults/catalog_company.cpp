#include <utility>

#include "adapters/faults/catalog_entries.h"

namespace bic::faults {
namespace {

Entries leaks_of_order() {
  return {
      by_bits("neighbour-scale",
              "picks its order by the largest value of the whole batch, as dynamic scaling per "
              "tensor does",
              sums(),
              {"neighbours"}),
      by_bits("subnormal-neighbours",
              "picks its kernel by whether the batch holds subnormal numbers, which slow the "
              "fast one down",
              sums(),
              {"neighbours"}),
      by_bits("overflow-retry",
              "sums again in another order where the batch holds an infinity, as LAPACK's norms "
              "scale after an overflow",
              {"vector_norm", "var", "var_mean", "sum", "mm"},
              {"neighbours"})};
}

/// The kinds of neighbours one by one.
Entries leaks_of_checks() {
  const Names sees{"neighbours"};
  return {by_bits("padding-detected",
                  "packs the batch in another order where a sample is all NaN, which it takes for "
                  "padding",
                  sums(),
                  sees),
          by_bits("masked-rows",
                  "takes a safe kernel for all rows where one is all infinite, as rows that are "
                  "masked from end to end",
                  sums(),
                  sees),
          by_bits("zero-samples",
                  "skips samples below the normal numbers as if they were zeros, and packs the "
                  "others otherwise",
                  sums(),
                  sees),
          by_bits("nan-check",
                  "takes a checked kernel for all samples where one holds a NaN beside numbers",
                  sums(),
                  sees),
          by_bits("outlier-columns",
                  "adds those columns apart that are large in all of 128 samples or more "
                  "(arXiv:2208.07339: LLM.int8() picks outliers by the batch)",
                  {"mm", "linear"},
                  {"alone"}),
          by_bits("rescaled-rows",
                  "takes a kernel that rescales for large rows where there are 8 samples or more",
                  {"mm", "linear", "sum"},
                  {"alone"})};
}

Entries leaks_of_values() {
  return {by(Reason::kNanLeak,
             "nan-leak",
             "adds zero times the other samples, as a mask that multiplies where it should select",
             sums_and({"conv2d", "group_norm", "scaled_dot_product_attention"}),
             {"neighbours"}),
          by(Reason::kBits,
             "fp8-scale",
             "rounds the first factor to e4m3 by a scale of the whole batch (dynamic scaling per "
             "tensor of fp8 inference)",
             contractions(),
             {"alone", "neighbours"}),
          in({DType::kFloat32, DType::kBFloat16},
             by(Reason::kNanLeak,
                "batch-maximum",
                "subtracts the largest value of the batch instead of the row's",
                {"softmax", "log_softmax", "log_softmax_fp32"},
                {"neighbours"})),
          by(Reason::kAccuracy,
             "batch-statistics",
             "normalises by the mean of the batch, as a layer left in training mode",
             {"batch_norm", "layer_norm"},
             {"accuracy", "neighbours"}),
          by(Reason::kAccuracy,
             "carry-not-reset",
             "carries the last row's sum into the next, as a segmented scan that misses a flag",
             {"cumsum"},
             {"accuracy", "alone"}),
          by(Reason::kAccuracy,
             "neighbours-index",
             "takes the indices or the mask of the sample before, as a block table off by one row",
             {"embedding", "index", "where", "scaled_dot_product_attention"},
             {"accuracy", "alone"})};
}

Entries memories() {
  return {by_bits("cached-by-content",
                  "remembers outputs by the bytes of the inputs and the order of the first sight "
                  "with them, as prefix caches do (vllm#33123)",
                  sums(),
                  {"fresh"}),
          by_bits("replayed",
                  "a sample alone that comes a second time is replayed from a graph that was "
                  "captured with another kernel (pytorch#193402)",
                  sums(),
                  {"repeat"},
                  Status::kUnstable),
          by(Reason::kAccuracy,
             "hash-collision",
             "remembers outputs by a hash of 3 bits, so that samples get those of others "
             "(CVE-2025-25183: collisions in vLLM's prefix cache)",
             {"mm", "sum", "softmax", "scaled_dot_product_attention"},
             {"alone", "neighbours"})};
}

Entries warm_ups() {
  const Status unstable = Status::kUnstable;
  return {by_bits("first-call",
                  "the first call on a problem differs, as before autotuning has picked "
                  "(openpi#841: later episodes differ)",
                  sums(),
                  {"repeat", "fresh", "alone"},
                  unstable),
          by_bits("autotune-by-shape",
                  "the first call with each batch size takes the untuned kernel",
                  sums_and({"conv2d"}),
                  {"repeat", "alone"},
                  unstable),
          by_bits("tier-up",
                  "takes another kernel from the fifth call on, as compilers that recompile what "
                  "runs often",
                  sums_and({"rms_norm"}),
                  {"repeat"},
                  unstable),
          by_bits("grown-workspace",
                  "takes another kernel once a large batch has grown the workspace (rocBLAS#1649)",
                  sums_and({"addmm"}),
                  {"repeat"},
                  unstable)};
}

}  // namespace

Entries leak_faults() { return join(join(leaks_of_order(), leaks_of_checks()), leaks_of_values()); }

Entries state_faults() { return join(memories(), warm_ups()); }

Entries noise_faults() {
  const Status unstable = Status::kUnstable;
  return {by_bits("noisy",
                  "every twentieth call takes another order, as racing threads do (OpenBLAS#5075, "
                  "flash-linear-attention#1228)",
                  sums(),
                  {"repeat", "alone", "permute", "neighbours"},
                  unstable),
          by_bits("atomic-add",
                  "every other call on 64 samples or more adds in another order, as atomic adds of "
                  "many blocks do (aiter#5108: runs differ)",
                  {"bmm", "conv2d", "var", "group_norm", "scaled_dot_product_attention"},
                  {"repeat", "alone"},
                  unstable),
          by_bits("rare-element",
                  "every twentieth call has one element from another order, as a race at one "
                  "address",
                  sums(),
                  {"repeat", "alone", "twins", "layout"},
                  unstable)};
}

Entries rng_faults() {
  return {by_bits("order-by-draw",
                  "draws its order by the place in the batch instead of the sample "
                  "(3d_diffuser_actor#45: noise drawn for the whole batch)",
                  sums_and({"scaled_dot_product_attention"}),
                  {"alone", "twins", "permute"}),
          in({DType::kBFloat16},
             by(Reason::kBits,
                "dithered",
                "rounds to 16 bits stochastically, with a counter that is the place in the batch "
                "(3d_diffuser_actor#45)",
                {"mm", "layer_norm", "gelu", "silu"},
                {"alone", "permute"})),
          by_bits("advancing-stream",
                  "draws its order from one stream for all calls, as a generator without the "
                  "request's seed (sglang#15481)",
                  sums(),
                  {"repeat", "alone", "twins"},
                  Status::kUnstable)};
}

}  // namespace bic::faults
