#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/libtorch/interposer.h"
#include "adapters/libtorch/placed.h"
#include "adapters/protocol/backend.h"

namespace bic::libtorch {

class Evaluator;

/// Returns the largest OpenMP team asked for since the last call with `reset` 1.
using LargestTeam = unsigned (*)(int reset);

/// Runs a whole model: the request, room for what is large, and the answer.
using Study = nlohmann::json (*)(const nlohmann::json& request, std::span<std::byte> room);

/// What makes a LibTorch backend out of ATen.
struct Subject {
  std::string name;                               ///< "libtorch", "libtorch-invariant", "fault:…"
  std::vector<protocol::ManifestEntry> manifest;  ///< in the order of the report
  std::unique_ptr<Interposer> interposer;         ///< null for the honest one
  std::shared_ptr<void> registered;               ///< kernels that live as long as the backend
  /// What is wrong with a subject that owns no overload, in one line; empty where that is right.
  std::string owns_nothing;
  std::map<std::string, Study> studies;  ///< by name
};

/// ATen on the process's device, reached through boxed calls of the problem's call texts, so that
/// every override a subject registered is reached as users reach it. Installs the poisoning
/// allocator.
class LibTorchBackend final : public protocol::Backend {
 public:
  /// `largest_team` may be null: the witness then says 0.
  LibTorchBackend(Subject subject, LargestTeam largest_team);
  ~LibTorchBackend() override;

  void declare(const std::vector<protocol::DeclaredOp>& declared) override;
  /// Throws std::runtime_error when it owns nothing and is there to.
  protocol::Hello hello() override;
  void load(const protocol::ProblemMessage& problem, std::span<const std::byte> pool) override;
  protocol::TrialReply run(const protocol::TrialMessage& trial,
                           std::span<std::byte> output) override;
  protocol::TimeReply time(const protocol::TimeMessage& request,
                           std::span<std::byte> output) override;
  nlohmann::json study(const std::string& name,
                       const nlohmann::json& request,
                       std::span<std::byte> room) override;

 private:
  const Evaluator& call_text(Form form) const;
  using PlacedTensors = std::vector<std::shared_ptr<Placed>>;
  PlacedTensors place(const protocol::TrialMessage& trial);
  std::shared_ptr<Placed> place_input(const protocol::TensorMessage& t,
                                      const protocol::TrialMessage& trial);
  at::Tensor call(const protocol::TrialMessage& trial, const NamedTensors& tensors);
  void observe(const protocol::TrialMessage& trial,
               const PlacedTensors& placed,
               protocol::TrialReply& reply,
               at::Tensor& y);
  void report_changes(const protocol::TrialMessage& trial,
                      const PlacedTensors& placed,
                      const at::Tensor& y,
                      protocol::TrialReply& reply) const;
  /// Tensors of the calls, the same from one block of a trial to the next.
  const std::vector<NamedTensors>& sets_to_time(const protocol::TimeMessage& request);
  void forget_timed() {
    timed_ = nullptr;
    timed_sets_.clear();
  }
  unsigned largest_team(int reset) const;

  Subject subject_;
  LargestTeam largest_team_;
  protocol::ProblemMessage problem_;
  std::span<const std::byte> pool_;
  std::map<Form, std::unique_ptr<Evaluator>> calls_;
  std::int64_t calls_made_ = 0;
  /// Common inputs, which stay where they are from trial to trial, as weights do.
  std::map<std::string, std::shared_ptr<Placed>> kept_;
  nlohmann::json timed_;  ///< what `timed_sets_` were made for; null for none
  std::vector<NamedTensors> timed_sets_;
};

}  // namespace bic::libtorch
