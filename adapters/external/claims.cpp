#include "adapters/external/claims.h"

#include <string_view>
#include <utility>

namespace bic::external {
namespace {

bool contains(std::initializer_list<const char*> all, std::string_view name) {
  for (const char* one : all) {
    if (one == name) return true;
  }
  return false;
}

}  // namespace

Table::Table(std::string name,
             std::string release,
             std::string source,
             const std::vector<bic_dtype>& dtypes,
             std::initializer_list<const char*> ops,
             std::initializer_list<const char*> inplace,
             int (*run)(bic_call*),
             const char* (*last_error)())
    : name_(std::move(name)), release_(std::move(release)), source_(std::move(source)) {
  for (const char* op : ops) {
    for (const bic_dtype dtype : dtypes) {
      const bic_dtype sums{BIC_FLOAT, static_cast<std::uint8_t>(dtype.bits == 64 ? 64 : 32), 1};
      claims_.push_back({BIC_PLUGIN_STRUCT(bic_claim),
                         op,
                         dtype,
                         sums,
                         0,
                         0,
                         contains(inplace, op) ? 1 : 0,
                         "",
                         source_.c_str()});
    }
  }
  for (const bic_claim& claim : claims_) pointers_.push_back(&claim);
  plugin_ = {BIC_PLUGIN_STRUCT(bic_plugin),
             name_.c_str(),
             release_.c_str(),
             static_cast<std::int32_t>(pointers_.size()),
             pointers_.data(),
             run,
             last_error};
}

}  // namespace bic::external
