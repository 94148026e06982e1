#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/protocol/messages.h"

namespace bic::libtorch_invariant {

/// The bundled batch-invariant kernels as ATen's for one dispatch key (kernels.h), for as long as
/// it lives; destroying it restores stock. float, double, bf16 and half are served by them in any
/// layout, other dtypes by stock. `linear` and `matmul` are registered too: they are composites,
/// whose choice of leaf op and of rounding points depends on strides. They lose autograd for that:
/// it is for inference.
class Registration {
 public:
  Registration();
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  /// The overloads whose row for the key changed on activation, by comparing ATen's computed
  /// dispatch tables before and after: "aten::mm", "aten::mm.out".
  const std::vector<std::string>& changed() const { return changed_; }

 private:
  struct Libraries;
  std::unique_ptr<Libraries> libraries_;
  std::vector<std::string> changed_;
};

/// What `libtorch-invariant` says of the suite's ops: its arithmetic, and of each op's overloads
/// those that are in `changed`.
std::vector<protocol::ManifestEntry> manifest(const std::vector<std::string>& changed);

}  // namespace bic::libtorch_invariant
