#pragma once

#include <filesystem>
#include <string>

namespace bic {

/// The torch package that the environment variable BIC_TORCH names; "" where it names none.
std::filesystem::path named_torch();

/// Why the LibTorch worker cannot be loaded, as the end of a line that names what needs it: its
/// library is not there, or torch is not where the library looks for it. Empty when both are.
///
/// It looks into torch/ beside itself (in a build tree a link, in an unpacked archive what pip put
/// there) and into the folders of LD_LIBRARY_PATH; the variable BIC_TORCH names another package.
std::string torch_problem(const std::filesystem::path& library);

}  // namespace bic
