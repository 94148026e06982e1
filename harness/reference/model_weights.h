#pragma once

#include <string>

#include "results_schema/case_name.h"
#include "results_schema/model_row.h"
#include "suites/ops/op_spec.h"

namespace bic {

/// The checkpoint of --weights for a preset of π0, of which it must hold exactly the parameters.
/// Reads all of its bytes. Throws UsageError that says what is wrong with it.
report::ModelWeights read_weights(const std::string& path, const std::string& preset);

/// Gives the op's variant of that preset these weights. Their digest becomes an attribute of its
/// problems, so that a case string says which weights it was run with.
void take_weights(OpSpec& op, const report::ModelWeights& weights);

/// Weights that something was run with, and is to be run with again.
struct WantedWeights {
  std::string whose;  ///< "the case"
  std::string preset;
  std::string sha256;  ///< all of it or how it begins; "": they were synthetic
};

/// They, from the file `path` of --weights, which may be empty. Throws UsageError where they are
/// others, or of no file.
std::optional<report::ModelWeights> same_weights(const WantedWeights& wanted,
                                                 const std::string& path);

/// The weights for a case that is to be run again: those of the file `path` of --weights, which may
/// be empty, where it is a case of a whole model. Throws UsageError where the case has other
/// weights, or none of a file.
std::optional<report::ModelWeights> weights_of_case(const CaseName& name, const std::string& path);

}  // namespace bic
