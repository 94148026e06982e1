#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "adapters/protocol/backend.h"
#include "harness/fake_worker/behaviour.h"
#include "suites/ops/op_spec.h"

namespace bic::fake {

/// Every op of the suite, computed sample by sample with the reference arithmetic in sequential
/// order, so that no bit can depend on the batch; and then broken as its behaviour says. A sample
/// is computed once a problem: the cache is keyed by the sample and the order, never by the trial.
class FakeBackend : public protocol::Backend {
 public:
  explicit FakeBackend(const Behaviour& behaviour) : behaviour_(behaviour) {}

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
  const std::vector<std::byte>& sample(std::uint32_t slot, Order order, const Trial& trial);
  std::vector<double> operand(std::size_t input, const protocol::TrialMessage& alone) const;
  protocol::Witness witness(const protocol::TrialMessage& trial) const;
  /// The call, with what this worker remembers of earlier ones of the problem.
  Call note(const protocol::TrialMessage& trial);

  const Behaviour& behaviour_;
  protocol::ProblemMessage problem_;
  const OpSpec* op_ = nullptr;
  const Variant* variant_ = nullptr;
  DType output_dtype_ = DType::kFloat32;
  std::span<const std::byte> pool_;
  std::map<std::tuple<std::uint32_t, Order, std::int64_t>, std::vector<std::byte>> samples_;
  std::set<std::tuple<std::vector<std::uint32_t>, Trial, int>> requests_;
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> orders_;  ///< first, by sorted
  std::int64_t calls_ = 0;
  std::int64_t first_batch_ = 0;  ///< of the loaded problem; 0: none yet
};

}  // namespace bic::fake
