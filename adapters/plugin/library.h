#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "adapters/plugin/bi_conform_plugin.h"
#include "adapters/protocol/messages.h"

namespace bic::plugin {

/// The project's name of a type ("bf16", "int64", "bool"), or its three numbers.
std::string dtype_name(bic_dtype type);

/// The type of elements of that name. Throws HarnessError for another.
bic_dtype dtype_of(const std::string& elements);

/// The user's file for `plugin:PATH.so`; for another name the plug-in that was built with the
/// worker libraries, external/NAME.so beside the one that asks. It need not exist.
std::filesystem::path plugin_path(const std::string& backend);

/// A user's shared object, loaded and found to be in order. It stays loaded: threads of its own may
/// live as long as the process.
class Library {
 public:
  /// Throws std::runtime_error, with one line, when it cannot be loaded or its tables are not as
  /// bi_conform_plugin.h says.
  explicit Library(const std::string& path);

  /// Its claims by op, in the order of their first.
  const std::vector<protocol::ManifestEntry>& manifest() const { return manifest_; }

  /// Name and version as it states them.
  std::string title() const;

  /// It and whatever it brought into the process.
  const std::vector<std::string>& files() const { return files_; }

  int run(bic_call& call) const { return plugin_->run(&call); }

  /// Why the last run gave `code`, in one line.
  std::string error_of(int code) const;

 private:
  void check() const;
  void read_claims();

  const bic_plugin* plugin_ = nullptr;
  std::vector<std::string> files_;
  std::vector<protocol::ManifestEntry> manifest_;
};

}  // namespace bic::plugin
