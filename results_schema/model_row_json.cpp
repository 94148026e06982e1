#include <nlohmann/json.hpp>

#include "results_schema/model_row.h"
#include "results_schema/optional_json.h"
#include "results_schema/vocabulary_json.h"

using nlohmann::json;

namespace bic::report {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    ModelTensor, section, name, invocation, error, allowed, share_ppm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelAccuracy, tensors, beyond, worst)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelOp, overload, inputs, count, own, reduces)

void to_json(json& j, const ModelWeights& w) {
  j = {{"preset", w.preset}, {"file", w.file}, {"sha256", w.sha256}};
}

void from_json(const json& j, ModelWeights& w) {
  j.at("preset").get_to(w.preset);
  j.at("file").get_to(w.file);
  j.at("sha256").get_to(w.sha256);
}

void to_json(json& j, const ModelRow& r) {
  j = {{"model", r.model},
       {"preset", r.preset},
       {"dtype", r.dtype},
       {"status", r.status},
       {"reasons", r.reasons},
       {"message", r.message}};
  put_if(j, "accuracy", r.accuracy);
  put_if(j, "ops", r.ops);
}

void from_json(const json& j, ModelRow& r) {
  j.at("model").get_to(r.model);
  j.at("preset").get_to(r.preset);
  j.at("dtype").get_to(r.dtype);
  j.at("status").get_to(r.status);
  j.at("reasons").get_to(r.reasons);
  j.at("message").get_to(r.message);
  get_if(j, "accuracy", r.accuracy);
  get_if(j, "ops", r.ops);
}

}  // namespace bic::report
