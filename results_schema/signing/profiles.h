#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "results_schema/report.h"

namespace bic::signing {

/// Ops that are certified together: a family of the suite, or all that a model is made of.
struct Profile {
  std::string_view name;
  std::vector<std::string_view> ops;
  std::string_view model = {};  ///< that must hold it as a whole, in the very dtype
};

/// Every op of the suite is in one family; models take what they call.
const std::vector<Profile>& profiles();

/// Whether the op in that dtype is in the backend's manifest.
bool is_claimed(const report::OpRow& row);

/// What reports of the same files show together.
struct Shown {
  std::vector<report::OpRow> ops;
  std::vector<report::DecoderRow> decoder;
};

/// The level that a profile holds in a dtype: the least of its ops and its model; `none` when one
/// of them is not claimed or not there at all, and when a decoder did not pass. An op need not know
/// each dtype, a model must.
Level level_of(const Profile& profile, DType dtype, const Shown& shown);

/// What kernels are chosen by, without the number of the device: "cpu", "cuda NVIDIA H200".
std::string device_class(const report::Subject& subject);

}  // namespace bic::signing
