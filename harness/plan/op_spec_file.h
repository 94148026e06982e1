#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "suites/ops/op_spec.h"

namespace bic {

/// What a file of --op-spec claims of an honest implementation's error: at most
///   (gamma_roundings + 2 u functions ulps + u' output_roundings) magnitude
/// before the output's own rounding, u and ulps being the backend's, u' of the output's type.
struct ErrorClaim {
  std::string roundings;  ///< of a term on its way to the output: an axis text, as "h+8"
  int functions = 0;      ///< exp, tanh and the like on that way
  int output_roundings = 0;
  std::string magnitude;  ///< call text of what an error is relative to; empty: the output's size
};

/// An op as a user declares it.
struct OpSpecFile {
  OpSpec op;              ///< without its reference
  std::string reference;  ///< call text over ATen
  ErrorClaim bound;
};

/// Reads a file of --op-spec (docs/op_spec.md). Throws UsageError in one line that names the file,
/// the place in it, the value and what to write.
OpSpecFile read_op_spec(const std::filesystem::path& path);

/// The same of a file's text; `file` is its name in errors.
OpSpecFile parse_op_spec(const std::string& file, std::string_view text);

}  // namespace bic
