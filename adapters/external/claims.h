#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "adapters/plugin/bi_conform_plugin.h"

namespace bic::external {

/// The plug-in table of a library that is called as it comes: every op in every type, sums in
/// fp32 (fp64 for fp64). Lives as long as the process.
class Table {
 public:
  /// `source` is where the arithmetic can be read; `inplace` those of `ops` that can write to c.
  Table(std::string name,
        std::string release,
        std::string source,
        const std::vector<bic_dtype>& dtypes,
        std::initializer_list<const char*> ops,
        std::initializer_list<const char*> inplace,
        int (*run)(bic_call*),
        const char* (*last_error)());

  const bic_plugin* get() const { return &plugin_; }

 private:
  std::string name_, release_, source_;
  std::vector<bic_claim> claims_;
  std::vector<const bic_claim*> pointers_;
  bic_plugin plugin_;
};

}  // namespace bic::external
