#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bic::pi0 {

/// Sees the named tensors of a forward pass in the order in which they are made. A tensor may be
/// changed in place after the call, so whoever wants its values copies them at once.
class Trace {
 public:
  virtual ~Trace() = default;

  /// What follows belongs to this part of the pass: "embedding", "prefill", "flow_step_0", ….
  /// The public names are the same in all of them.
  virtual void section(std::string_view name) = 0;

  /// `name` is the public tracer's, its nested values flattened by ".key" and "[index]".
  virtual void record(std::string_view name, const at::Tensor& tensor) = 0;
};

/// One recorded tensor: a copy on the host, contiguous.
struct Snapshot {
  std::string section;
  std::string name;
  int invocation = 0;  ///< how often the section recorded that name before
  at::Tensor tensor;
};

/// Copies what it is shown.
class Recorder final : public Trace {
 public:
  /// `wanted(name)` chooses; without it all is kept.
  explicit Recorder(std::function<bool(std::string_view)> wanted = nullptr)
      : wanted_(std::move(wanted)) {}

  void section(std::string_view name) override { section_ = name; }
  void record(std::string_view name, const at::Tensor& tensor) override;

  const std::vector<Snapshot>& snapshots() const { return snapshots_; }

  /// The first tensor of that section and name. Throws HarnessError when there is none.
  const at::Tensor& get(std::string_view section, std::string_view name) const;

 private:
  std::function<bool(std::string_view)> wanted_;
  std::string section_;
  std::vector<Snapshot> snapshots_;
};

}  // namespace bic::pi0
