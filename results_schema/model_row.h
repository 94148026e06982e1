#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results_schema/vocabulary.h"

/// What a report says of a whole model beside its cases (docs/pi0.md): how exact the tensors on the
/// way to its output are, and which ops it reaches.
namespace bic::report {

/// A checkpoint that a model was run with, of a run with --weights.
struct ModelWeights {
  std::string preset;
  std::string file;    ///< path: a file, an index or a folder
  std::string sha256;  ///< of its bytes (docs/pi0.md)
};

/// A named tensor, by how much of its bound it uses.
struct ModelTensor {
  std::string section;
  std::string name;
  std::int64_t invocation = 0;
  std::string error;           ///< of the element that uses most; C hex-float
  std::string allowed;         ///< there; C hex-float
  std::int64_t share_ppm = 0;  ///< of the error in what is allowed, saturating
};

/// All floating-point tensors that a model names, against the model in fp64.
struct ModelAccuracy {
  std::int64_t tensors = 0;
  std::int64_t beyond = 0;  ///< of them, those off by more than is allowed
  ModelTensor worst;
};

/// Calls of one overload on tensors of the same dtypes and ranks.
struct ModelOp {
  std::string overload;
  std::vector<std::string> inputs;  ///< dtype and rank of each: "bf16:3"
  std::int64_t count = 0;
  bool own = false;      ///< the backend's kernel ran
  bool reduces = false;  ///< adds along an axis by itself, so that an order can show
};

/// One preset in one dtype.
struct ModelRow {
  std::string model;
  std::string preset;
  DType dtype = DType::kFloat32;
  Status status = Status::kError;
  std::vector<Reason> reasons;
  std::string message;                    ///< one line for people
  std::optional<ModelAccuracy> accuracy;  ///< of a model that ran
  std::vector<ModelOp> ops;               ///< in the order of the first of each; so too
};

/// "pi0 tiny-ragged bf16".
std::string name(const ModelRow& row);

// JSON under the members' names, as in the schema. Reading throws nlohmann::json::exception or
// UsageError when it does not fit.
void to_json(nlohmann::json& j, const ModelWeights& weights);
void to_json(nlohmann::json& j, const ModelRow& row);
void from_json(const nlohmann::json& j, ModelWeights& weights);
void from_json(const nlohmann::json& j, ModelRow& row);

}  // namespace bic::report
