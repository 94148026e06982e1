#pragma once

#include <map>
#include <string>
#include <vector>

namespace bic::libtorch_invariant {

/// Who serves a key ("CPU", "CUDA") of each overload that the suite's ops reach, as ATen's computed
/// dispatch tables say it, by overload: "aten::mm.out".
std::map<std::string, std::string> dispatch_rows(const std::string& key);

/// The overloads whose row is another now.
std::vector<std::string> rows_changed_since(const std::map<std::string, std::string>& before,
                                            const std::string& key);

}  // namespace bic::libtorch_invariant
