#include "harness/workers/study_worker.h"

#include <nlohmann/json.hpp>

#include "harness/workers/start_worker.h"

namespace bic {

std::variant<nlohmann::json, Death> StudyWorker::ask(const std::string& study,
                                                     const nlohmann::json& request,
                                                     const protocol::SharedMemory& room) {
  constexpr int kMostKills = 3;  // of a trial's worker too
  for (int kills = 1;; ++kills) {
    if (worker_ == nullptr) worker_ = start_worker(launch_);
    auto answer = worker_->study(study, request, room);
    const Death* const death = std::get_if<Death>(&answer);
    if (death == nullptr) return answer;
    worker_.reset();
    if (!death->killed_by_others || kills == kMostKills) return answer;
    ++killed_;
  }
}

}  // namespace bic
