#include "harness/judge/judging.h"

#include <algorithm>

namespace bic {

std::optional<Promise> promise_of(const protocol::Hello& hello,
                                  const std::string& op,
                                  DType dtype) {
  for (const protocol::ManifestEntry& e : hello.manifest) {
    if (e.op != op) continue;
    if (std::ranges::find(e.dtypes, dtype) == e.dtypes.end()) return {};
    const auto at = e.arithmetic.find(dtype);
    return Promise{at == e.arithmetic.end() ? Arithmetic{} : at->second, e.own, e.lacks, nullptr};
  }
  return {};
}

std::string why_unclaimed(const protocol::Hello& hello, const std::string& op) {
  const auto at = hello.absent.find(op);
  return at == hello.absent.end() ? "not in the backend's manifest" : at->second;
}

std::optional<Promise> promise_of(Stage& stage, const std::string& op, DType dtype) {
  std::optional<Promise> promise = promise_of(stage.hello(), op, dtype);
  const protocol::Hello* const peer = promise ? stage.peer_hello() : nullptr;
  if (peer == nullptr) return promise;
  if (auto theirs = promise_of(*peer, op, dtype)) {
    promise->peer = std::make_shared<const Promise>(std::move(*theirs));
  }
  return promise;
}

namespace {

Judged judge_once(Stage& stage, Prepared& p, const Promise& promise) {
  Judged judged{
      .results = sweep(stage, p, promise.peer != nullptr), .cases = {}, .worst_error_ppm = {}};
  Judge judge(p, promise, judged.results, stage.isolated(), [&](const PlannedTrial& t) {
    return stage.run(t);
  });
  for (const Case& c : p.cases) judged.cases.push_back(judge.judge(c));
  judged.worst_error_ppm = judge.worst_error_ppm();
  return judged;
}

}  // namespace

Judged run_and_judge(Stage& stage, Prepared& p, const Promise& promise) {
  Judged judged;
  judged.killed_workers = run_undisturbed(stage, [&] { judged = judge_once(stage, p, promise); });
  return judged;
}

}  // namespace bic
