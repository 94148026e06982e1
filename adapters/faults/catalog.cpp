#include "adapters/faults/catalog.h"

#include <algorithm>

namespace bic::faults {
namespace {

using Names = std::vector<std::string_view>;

Names sums() { return {"mm", "linear", "bmm", "sum", "softmax", "layer_norm"}; }

/// `sums()` and some more.
Names sums_and(std::initializer_list<std::string_view> more) {
  Names all = sums();
  all.insert(all.end(), more);
  return all;
}

/// Every op whose order shows: what follows the batch is seen on each of them.
Names reductions() {
  return sums_and({"addmm",
                   "baddbmm",
                   "matmul",
                   "mv",
                   "conv1d",
                   "conv2d",
                   "mean",
                   "var",
                   "vector_norm",
                   "prod",
                   "log_softmax",
                   "logsumexp",
                   "rms_norm",
                   "group_norm",
                   "scaled_dot_product_attention"});
}

Names contractions() { return {"mm", "linear", "bmm"}; }

/// A fault that only bits can show.
Fault by_bits(std::string_view name,
              std::string_view sentence,
              Names ops,
              Names relations,
              Status status = Status::kFail) {
  return {name, sentence, std::move(ops), std::move(relations), status, Reason::kBits, true};
}

Fault by(Reason reason,
         std::string_view name,
         std::string_view sentence,
         Names ops,
         Names relations,
         Status status = Status::kFail) {
  return {name, sentence, std::move(ops), std::move(relations), status, reason, false};
}

void add_batch_faults(std::vector<Fault>& all) {
  all.push_back(by_bits("split-by-batch",
                        "sums in another order from 8 samples on, as a library that picks "
                        "its kernel by the batch (pytorch#136338, vllm#55131)",
                        reductions(),
                        {"alone", "twins"}));
  all.push_back(by_bits("tile-by-batch",
                        "the samples of the last, partial tile of 16 take an edge kernel "
                        "(pytorch#60234: bits change at 16)",
                        sums(),
                        {"alone", "twins", "permute"}));
  all.push_back(by_bits("scalar-tail",
                        "the last elements that fill no vector are computed by other code, "
                        "as ATen's scalar tails of GELU",
                        {"gelu", "exp", "rsqrt"},
                        {"alone"}));
  all.push_back(by_bits("last-position",
                        "the last sample of a batch takes another path (tensorflow#39707: "
                        "the last row goes astray)",
                        sums(),
                        {"alone", "twins", "permute"}));
  all.push_back(by_bits("one-batch-size",
                        "changes its order for 257 samples only, one more than a table of "
                        "tiles ends with (vllm#48271: another block from 256 rows on)",
                        sums(),
                        {"alone"}));
}

void add_company_faults(std::vector<Fault>& all) {
  all.push_back(by(Reason::kNanLeak,
                   "nan-leak",
                   "adds zero times the other samples, as a mask that multiplies where "
                   "it should select",
                   sums_and({"conv2d", "group_norm", "scaled_dot_product_attention"}),
                   {"neighbours"}));
  all.push_back(by_bits("neighbour-scale",
                        "picks its order by the largest value of the whole batch, as "
                        "dynamic scaling per tensor does",
                        sums(),
                        {"neighbours"}));
  all.push_back(by_bits("cached-by-content",
                        "remembers outputs by the bytes of the inputs and the order of the "
                        "first sight with them, as prefix caches do (vllm#33123)",
                        sums(),
                        {"fresh"}));
}

void add_schedule_faults(std::vector<Fault>& all) {
  all.push_back(by_bits("thread-split",
                        "sums in another order with more than two threads (pytorch#88718, "
                        "pytorch#2201)",
                        reductions(),
                        {"threads"}));
  all.push_back(by_bits("misaligned",
                        "another order where the first input does not begin at 32 bytes "
                        "(OpenBLAS#317)",
                        sums(),
                        {"layout"}));
  all.push_back(by_bits("strided",
                        "another order where the first input has gaps or swapped axes "
                        "(pytorch#121651: channels last against contiguous; modular#6712)",
                        sums(),
                        {"layout"}));
  all.push_back(by_bits("given-output",
                        "a given output and an in-place call reach another kernel, which "
                        "the override missed (vllm PR 52231)",
                        {"mm", "linear", "bmm", "sum", "softmax", "gelu"},
                        {"forms"}));
  all.push_back(by_bits("halves-of-k",
                        "always adds two halves of the contracted axis: the batch changes "
                        "nothing, but padding moves the middle",
                        contractions(),
                        {"zeropad"}));
  all.push_back(by_bits("first-call",
                        "the first call on a problem differs, as before autotuning has "
                        "picked (openpi#841: later episodes differ)",
                        sums(),
                        {"repeat", "fresh", "alone"},
                        Status::kUnstable));
  all.push_back(by_bits("noisy",
                        "every twentieth call takes another order, as racing threads do "
                        "(OpenBLAS#5075, flash-linear-attention#1228)",
                        sums(),
                        {"repeat", "alone", "permute", "neighbours"},
                        Status::kUnstable));
}

void add_value_faults(std::vector<Fault>& all) {
  all.push_back(by(Reason::kStaleOutput,
                   "stale-output",
                   "never writes the last element of the last sample (vllm#42019: "
                   "uninitialised memory is returned)",
                   {"mm", "linear", "bmm", "sum", "softmax", "layer_norm", "gelu"},
                   {"repeat", "accuracy"}));
  all.push_back(by(Reason::kAccuracy,
                   "tf32-inputs",
                   "rounds fp32 factors to ten explicit bits (vllm#55131: TF32 where "
                   "fp32 was asked for)",
                   contractions(),
                   {"accuracy"}));
  all.push_back(by(Reason::kAccuracy,
                   "dropped-tail",
                   "ignores the last index of the summed axis, as a tail loop that "
                   "ends one step early",
                   {"mm", "linear", "bmm", "sum"},
                   {"accuracy"}));
}

void add_contract_faults(std::vector<Fault>& all) {
  const Names every{"mm", "linear", "bmm", "sum", "softmax", "layer_norm", "gelu"};
  all.push_back(by(Reason::kInputChanged,
                   "scribbled-input",
                   "writes to an input, as a workspace that shares its memory "
                   "(pytorch#193402)",
                   every,
                   {"repeat", "accuracy"}));
  all.push_back(by(Reason::kNotCalled,
                   "not-called",
                   "claims overrides that calls go round (sglang#36291: the flag is on "
                   "and has no effect)",
                   {"mm", "bmm", "gelu"},
                   {"repeat", "accuracy"}));
  all.push_back(by(Reason::kOutOfBounds,
                   "out-of-bounds",
                   "writes one element past the end of the output, as a tile without a "
                   "mask",
                   every,
                   {"repeat", "accuracy"}));
  all.push_back(by(Reason::kDtype,
                   "wrong-dtype",
                   "returns its fp32 accumulators for 16-bit inputs",
                   every,
                   {"repeat", "accuracy"}));
  all.push_back(by(Reason::kShape,
                   "wrong-shape",
                   "returns an axis too many, as a view that is not undone "
                   "(vllm#27059: linear on ranks above 2)",
                   every,
                   {"repeat", "accuracy"}));
}

/// What single ops get wrong.
void add_op_faults(std::vector<Fault>& all) {
  const Names attention{"scaled_dot_product_attention"};
  all.push_back(by_bits("decode-order",
                        "another order where a prefill is cut or a single token is decoded, as "
                        "split KV does",
                        attention,
                        {"chunk"}));
  all.push_back(by_bits("vector-order",
                        "a vector reaches a matrix-vector kernel of its own, as mv beside mm",
                        {"matmul"},
                        {"rank"}));
  all.push_back(by_bits("scan-tail",
                        "the last elements of the last row of a scan are computed by other code",
                        {"cumsum"},
                        {"alone", "twins"}));
  all.push_back(by(Reason::kAccuracy,
                   "alpha-ignored",
                   "leaves the factor of the product out, as a fused epilogue that knows one case",
                   {"addmm", "baddbmm"},
                   {"accuracy"}));
  all.push_back(by(Reason::kAccuracy,
                   "mask-off-by-one",
                   "applies the mask one key too far",
                   attention,
                   {"accuracy"}));
  all.push_back(by(Reason::kAccuracy,
                   "batch-statistics",
                   "normalises by the mean of the batch, as a layer left in training mode",
                   {"batch_norm", "layer_norm"},
                   {"accuracy", "neighbours"}));
  all.push_back(by(Reason::kNanLeak,
                   "masked-nan",
                   "multiplies masked values by zero where it should leave them out",
                   attention,
                   {"pad"}));
}

void add_deaths(std::vector<Fault>& all) {
  all.push_back({"refuses",
                 "claims bf16 and then declines it (vllm PR 52960: a shared memory "
                 "limit found when the kernel is launched)",
                 {"mm", "sum"},
                 {"repeat", "accuracy"},
                 Status::kRefused,
                 {},
                 false});
  all.push_back(by(Reason::kSignal,
                   "crashes",
                   "dies with a segmentation fault on 33 samples, as a table of tiles "
                   "read past its end",
                   {"mm"},
                   {"alone", "permute"},
                   Status::kCrash));
  all.push_back({"hangs",
                 "never returns on 33 samples, as threads that wait for one another",
                 {"mm"},
                 {"alone", "permute"},
                 Status::kTimeout,
                 {},
                 false});
}

std::vector<Fault> make_catalog() {
  std::vector<Fault> all;
  add_batch_faults(all);
  add_company_faults(all);
  add_schedule_faults(all);
  add_value_faults(all);
  add_contract_faults(all);
  add_op_faults(all);
  add_deaths(all);
  return all;
}

}  // namespace

std::span<const Fault> catalog() {
  static const std::vector<Fault> kAll = make_catalog();
  return kAll;
}

const Fault* find(std::string_view name) {
  const auto all = catalog();
  const auto at = std::ranges::find(all, name, &Fault::name);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace bic::faults
