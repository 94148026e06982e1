#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "adapters/libtorch/backend.h"
#include "adapters/libtorch/lifted_call.h"
#include "adapters/plugin/library.h"

namespace bic::libtorch {

/// A plug-in whose kernels take the place of ATen's on the CPU for as long as it lives: calls in
/// the ranks, types and options of a variant that it claims. All others go to stock, a call that it
/// is given and declines is an error of ATen's (c10::NotImplementedError).
class Lift {
 public:
  /// Throws what plugin::Library throws, and std::runtime_error when nothing can be lifted.
  explicit Lift(const std::string& path);
  ~Lift();

  const plugin::Library& library() const { return library_; }

  /// ATen's overloads that are the plug-in's now: "aten::mm", "aten::mm.out".
  const std::vector<std::string>& overloads() const { return overloads_; }

  /// Ops that it claims and that no one call of ATen's is: "conv2d".
  const std::vector<std::string>& left_out() const { return left_out_; }

  /// While on, calls that would go to the plug-in are noted and go to stock.
  void look_only(bool on) { looks_only_ = on; }

  /// Begins to note calls anew.
  void forget();
  /// The ops that the plug-in was called for since: "plugin::mm".
  const std::set<std::string>& reached() const { return reached_; }
  /// The largest team of those calls, `seen` being that of OpenMP's regions; -1: unknown.
  int team(int seen) const;

 private:
  class Override;
  struct Libraries;

  std::size_t collect(const protocol::ManifestEntry& claim);
  at::Tensor run(const LiftedCall& call, const Bound& bound);
  void note(const std::string& op);

  plugin::Library library_;
  std::map<std::string, std::vector<std::pair<LiftedCall, std::vector<DType>>>> calls_;
  std::unique_ptr<Libraries> libraries_;
  std::vector<std::string> overloads_, left_out_;
  bool looks_only_ = false;
  std::set<std::string> reached_;
  int stated_team_ = 0;
  bool silent_ = false;  ///< some call stated no team
};

/// ATen with the plug-in at `path` lifted into it. Its manifest has the ops that run on the
/// plug-in, as calls on small tensors showed. Throws what Lift throws.
Subject lifted(std::string name, const std::string& path);

}  // namespace bic::libtorch
