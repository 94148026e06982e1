#pragma once

#include <map>
#include <string>
#include <vector>

namespace bic::libtorch_invariant {

/// Who serves the CPU key of each overload that the suite's ops reach, as ATen's computed dispatch
/// tables say it, by overload: "aten::mm.out".
std::map<std::string, std::string> cpu_rows();

/// The overloads whose row is another now.
std::vector<std::string> rows_changed_since(const std::map<std::string, std::string>& before);

}  // namespace bic::libtorch_invariant
