#include "harness/workers/hello_request.h"

#include "suites/ops/op_spec.h"

namespace bic {

nlohmann::json hello_request() {
  using nlohmann::json;
  json ops = json::array();
  for (const OpSpec& op : registry()) {
    json dtypes = json::array(), calls = json::array();
    for (DType dtype : op.dtypes) dtypes.push_back(name(dtype));
    for (const Variant& v : op.variants) {
      calls.push_back(v.call);
      for (const auto& [form, call] : v.forms) calls.push_back(call);
    }
    ops.push_back({{"op", op.name}, {"dtypes", dtypes}, {"calls", calls}});
    // Of neither a worker knows anything but its calls.
    if (!op.declared_sha256.empty() || !op.suite.empty()) ops.back()["declared"] = true;
  }
  return {{"ops", ops}};
}

}  // namespace bic
