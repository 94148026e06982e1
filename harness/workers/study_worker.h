#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>

#include "harness/workers/worker.h"

namespace bic {

/// A worker that is asked for studies. It is started when it is first needed, and again where it
/// died; where something else killed it, it is asked again, at most twice.
class StudyWorker {
 public:
  explicit StudyWorker(WorkerLaunch launch) : launch_(std::move(launch)) {}

  /// As `Worker::study`. Throws UsageError with what the worker says when it cannot make it.
  std::variant<nlohmann::json, Death> ask(const std::string& study,
                                          const nlohmann::json& request,
                                          const protocol::SharedMemory& room);

  /// Workers that something else ended and whose question was put again.
  std::int64_t killed() const { return killed_; }

 private:
  WorkerLaunch launch_;
  std::unique_ptr<Worker> worker_;
  std::int64_t killed_ = 0;
};

}  // namespace bic
