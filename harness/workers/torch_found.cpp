#include "harness/workers/torch_found.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/files/typed.h"

namespace bic {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool holds_torch(const fs::path& folder) {
  std::error_code unreadable;
  return fs::is_regular_file(folder / "libtorch_cpu.so", unreadable);
}

}  // namespace

fs::path named_torch() { return variable("BIC_TORCH"); }

std::string torch_problem(const fs::path& library) {
  const fs::path lib = library.parent_path();
  if (!fs::exists(library)) {
    return fmt::format("needs {}, which this build has not got; build with -DBIC_LIBTORCH=ON",
                       library.filename().string());
  }
  const auto folders = split(variable("LD_LIBRARY_PATH"), ':');
  if (!named_torch().empty() || holds_torch(lib / "torch" / "lib") ||
      std::ranges::any_of(folders, holds_torch)) {
    return "";
  }
  const std::string list = (lib.parent_path() / "share" / "bi-conform" / "torch.txt").string();
  return fmt::format(
      "needs PyTorch, and '{0}' has no torch: pip install --no-deps --target {1} -r {2}, or set "
      "BIC_TORCH to the folder of the torch package of these versions",
      lib.string(),
      shell_quoted(lib.string()),
      shell_quoted(list));
}

}  // namespace bic
