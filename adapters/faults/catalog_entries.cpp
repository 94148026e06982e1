#include "adapters/faults/catalog_entries.h"

#include <utility>

namespace bic::faults {

Fault by_bits(
    std::string_view name, std::string_view sentence, Names ops, Names relations, Status status) {
  Fault fault = by(Reason::kBits, name, sentence, std::move(ops), std::move(relations), status);
  fault.keeps_accuracy = true;
  return fault;
}

Fault by(Reason reason,
         std::string_view name,
         std::string_view sentence,
         Names ops,
         Names relations,
         Status status) {
  return {.name = name,
          .group = {},
          .sentence = sentence,
          .ops = std::move(ops),
          .dtypes = {DType::kFloat32},
          .relations = std::move(relations),
          .status = status,
          .reason = reason,
          .keeps_accuracy = false};
}

Fault by(
    Status status, std::string_view name, std::string_view sentence, Names ops, Names relations) {
  Fault fault = by(Reason::kBits, name, sentence, std::move(ops), std::move(relations), status);
  fault.reason.reset();
  return fault;
}

Fault in(std::vector<DType> dtypes, Fault fault) {
  fault.dtypes = std::move(dtypes);
  return fault;
}

Entries join(Entries first, Entries second) {
  for (Fault& fault : second) first.push_back(std::move(fault));
  return first;
}

Names sums() { return {"mm", "linear", "bmm", "sum", "softmax", "layer_norm"}; }

Names sums_and(std::initializer_list<std::string_view> more) {
  Names all = sums();
  all.insert(all.end(), more);
  return all;
}

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

Names attention() { return {"scaled_dot_product_attention"}; }

}  // namespace bic::faults
