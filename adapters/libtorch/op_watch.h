#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace bic::libtorch {

/// A tensor as a call was given it or left it.
struct TensorSight {
  std::string dtype;
  std::vector<std::int64_t> shape, strides;
};

/// A call through the dispatcher.
struct CallSight {
  std::string overload;                        ///< "aten::mean.dim"; "aten::mm" for a default one
  std::vector<TensorSight> inputs;             ///< in order, those of lists one by one
  std::map<std::string, std::string> options;  ///< what is no tensor and not None, by name
};

/// A call that ended and whose outputs are no views of its inputs.
struct OpSight {
  std::shared_ptr<const CallSight> call;
  std::shared_ptr<const CallSight> caller;  ///< the outermost call that it served; null: itself
  std::vector<at::Tensor> outputs;          ///< written in place or new
  std::size_t first_inside = 0;  ///< ops seen before it began: those after them ran inside it
};

void to_json(nlohmann::json& j, const TensorSight& t);
void to_json(nlohmann::json& j, const CallSight& c);

/// Shows, on this thread and while it lives, every op to `seen` when it ends: what ran inside
/// another op comes first. `seen` must not throw and calls no ops. One at a time on a thread.
class OpWatch {
 public:
  explicit OpWatch(std::function<void(const OpSight&)> seen);
  ~OpWatch();
  OpWatch(const OpWatch&) = delete;
  OpWatch& operator=(const OpWatch&) = delete;

 private:
  std::uint64_t handle_;
};

/// Allocates only: what its output holds means nothing.
bool allocates(const CallSight& call);

/// An op without its tensors.
struct OpNote {
  std::shared_ptr<const CallSight> call, caller;
  std::vector<TensorSight> outputs;
};
OpNote note_of(const OpSight& op);

/// `call`, `caller` where there is one, and `outputs`.
void to_json(nlohmann::json& j, const OpNote& o);

/// For each storage, the op that wrote it last.
class Producers {
 public:
  /// To be shown every op.
  void see(const OpSight& op);

  /// The op that wrote the tensor's storage; null where no op did.
  std::shared_ptr<const OpNote> of(const at::Tensor& tensor) const;

 private:
  struct Writer {
    std::size_t number = 0;   ///< of the op, in the order of ends
    bool only_moves = false;  ///< allocates, fills or copies
    std::shared_ptr<const OpNote> op;
  };
  std::map<const void*, Writer> by_storage_;
  std::size_t seen_ = 0;
};

}  // namespace bic::libtorch
