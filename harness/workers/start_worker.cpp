#include "harness/workers/start_worker.h"

namespace bic {
namespace {

constexpr int kStartTries = 3;

}  // namespace

std::unique_ptr<Worker> start_worker(const WorkerLaunch& launch) {
  for (int tries = 1;; ++tries) {
    try {
      return std::make_unique<Worker>(launch);
    } catch (const KilledAtStart&) {
      if (tries == kStartTries) throw;
    }
  }
}

}  // namespace bic
