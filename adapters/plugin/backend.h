#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/plugin/library.h"
#include "adapters/plugin/placed.h"
#include "adapters/protocol/backend.h"

namespace bic::plugin {

class Call;

/// Returns the largest OpenMP team asked for since the last call with `reset` not 0.
using LargestTeam = unsigned (*)(int reset);

/// The kernels of a user's shared object, called through bi_conform_plugin.h.
class PluginBackend final : public protocol::Backend {
 public:
  /// `name` is the backend's; `largest_team` may be null: the witness then has only what the
  /// plug-in says. Throws what Library throws.
  PluginBackend(std::string name, const std::string& path, LargestTeam largest_team);

  protocol::Hello hello() override;
  void load(const protocol::ProblemMessage& problem, std::span<const std::byte> pool) override;
  protocol::TrialReply run(const protocol::TrialMessage& trial,
                           std::span<std::byte> output) override;
  protocol::TimeReply time(const protocol::TimeMessage& request,
                           std::span<std::byte> output) override;

 private:
  /// The tensors of a trial; in place, the output is one of the inputs.
  struct Tensors {
    std::vector<std::shared_ptr<Placed>> inputs;
    std::shared_ptr<Placed> output;
  };

  bool lacks(Form form) const;
  Tensors place(const protocol::TrialMessage& trial);
  std::shared_ptr<Placed> place_input(const protocol::TensorMessage& t,
                                      const protocol::TrialMessage& trial);
  std::unique_ptr<Call> call_of(const protocol::TrialMessage& trial, const Tensors& tensors) const;
  void observe(const Tensors& tensors, protocol::Witness& witness) const;
  void take_output(const Placed& output,
                   const bic_tensor& as_left,
                   protocol::TrialReply& reply,
                   std::span<std::byte> elements) const;
  void report_changes(const protocol::TrialMessage& trial,
                      const Tensors& tensors,
                      protocol::TrialReply& reply) const;

  std::string name_;
  Library library_;
  LargestTeam largest_team_;
  protocol::ProblemMessage problem_;
  std::span<const std::byte> pool_;
  /// Common inputs, which stay where they are from trial to trial, as weights do.
  std::map<std::string, std::shared_ptr<Placed>> kept_;
  std::int64_t calls_made_ = 0;
};

}  // namespace bic::plugin
