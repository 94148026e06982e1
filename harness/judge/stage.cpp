#include "harness/judge/stage.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "harness/workers/start_worker.h"

namespace bic {
namespace {

constexpr int kDeathsPerProblem = 3;
constexpr int kKillsInOneTrial = 3;

/// Place in the sweep, before the seeded shuffle.
int act_of(const PlannedTrial& t, bool large_first, std::int64_t largest) {
  const Trial plain_trial{.sample = t.trial.sample, .worker = t.trial.worker};
  const bool plain = t == planned(plain_trial, {});
  const bool last_look = t.trial.batch == 1 && t.trial.run > 0;
  if (t.trial.threads != 0) return 4;
  if (last_look) return 3;
  if (plain) return large_first ? 1 : 0;
  if (t.trial.batch == largest && large_first && t.trial.run == 0) return 0;
  return 2;
}

}  // namespace

int threads_asked(const Trial& trial) {
  if (trial.threads >= 0) return trial.threads;
  return 2 * static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

Stage::Stage(WorkerLaunch launch) : launch_(std::move(launch)) {
  seats_[0].worker = start_worker(launch_);
  hello_ = seats_[0].worker->hello();
}

const protocol::Hello* Stage::peer_hello() {
  if (launch_.peer == nullptr) return nullptr;
  if (!peer_hello_) {
    seats_[kPeerWorker].worker = start_worker(*launch_.peer);
    peer_hello_ = seats_[kPeerWorker].worker->hello();
  }
  return &*peer_hello_;
}

const WorkerLaunch& Stage::launch_of(const Seat& seat) const {
  return &seat == &seats_[kPeerWorker] ? *launch_.peer : launch_;
}

/// The weights of a full-size model are made in its first trial, and each takes long. Whoever named
/// a time-out knows better.
void Stage::be_patient() {
  constexpr std::chrono::minutes kLong{20};
  if (launch_.timeout != WorkerLaunch{}.timeout) return;
  launch_.timeout = kLong;
  renew();
}

void Stage::set(const Prepared& prepared) {
  prepared_ = &prepared;
  if (prepared.problem.variant->on_request) be_patient();
  for (Seat& seat : seats_) {
    seat.loaded = false;
    seat.deaths = 0;
  }
}

void Stage::renew() {
  for (Seat& seat : seats_) seat = {};
}

std::optional<Death> Stage::ready(Seat& seat) {
  if (seat.loaded) return {};
  if (seat.worker == nullptr) {
    try {
      seat.worker = start_worker(launch_of(seat));
    } catch (const KilledAtStart& e) {
      return Death{.reason = Reason::kSignal, .message = e.what(), .killed_by_others = true};
    } catch (const UsageError& e) {  // it started before: what stops it now is no mistake of typing
      return Death{.reason = Reason::kException, .message = e.what()};
    }
  }
  auto death = seat.worker->load(prepared_->pool->problem(), prepared_->pool->samples());
  seat.loaded = !death;
  return death;
}

protocol::TrialMessage Stage::request(const PlannedTrial& trial) const {
  protocol::TrialMessage message = prepared_->pool->request(trial);
  message.threads = trial.trial.threads == 0 ? hello_.default_threads : threads_asked(trial.trial);
  return message;
}

TrialResult Stage::run(const PlannedTrial& trial) {
  // Without isolation there is no second process; the judge calls those cases vacuous.
  Seat& seat = seats_[isolated() ? trial.trial.worker : 0];
  TrialResult result;
  if (seat.deaths >= kDeathsPerProblem) {
    result.blocked = true;
    return result;
  }
  result.death = ready(seat);
  if (!result.death) {
    auto answer = seat.worker->run(request(trial));
    if (Death* death = std::get_if<Death>(&answer)) {
      result.death = std::move(*death);
    } else {
      result.reply = std::move(std::get<protocol::TrialReply>(answer));
      // A worker that was started again counts its calls from the beginning.
      result.reply.witness.calls += static_cast<std::int64_t>(seat.deaths) << 32;
    }
  }
  if (result.death) {
    if (result.death->killed_by_others) killed_.push_back(trial);
    ++seat.deaths;
    seat.worker.reset();
    seat.loaded = false;
    return result;
  }
  std::int64_t elements = 1;
  for (std::int64_t e : result.reply.shape) elements *= e;
  const auto dtype = parse_dtype(result.reply.dtype);
  const auto all = seat.worker->output();
  const auto bytes = static_cast<std::size_t>(dtype ? elements * size_of(*dtype) : 0);
  if (bytes <= all.size()) result.output.assign(all.begin(), all.begin() + bytes);
  return result;
}

std::variant<protocol::TimeReply, Death> Stage::time(const PlannedTrial& trial,
                                                     const Timing& timing) {
  Seat& seat = seats_[0];
  std::variant<protocol::TimeReply, Death> answer;
  if (auto death = ready(seat)) {
    answer = std::move(*death);
  } else {
    answer = seat.worker->time({.trial = request(trial),
                                .calls = timing.calls,
                                .copies = timing.copies,
                                .copies_common = timing.copies_common});
  }
  if (std::holds_alternative<Death>(answer)) seat = {};
  return answer;
}

std::vector<PlannedTrial> sweep_order(const Prepared& prepared) {
  std::set<PlannedTrial> distinct;
  for (const Case& c : prepared.cases) {
    distinct.insert(c.trial);
    if (c.against) distinct.insert(*c.against);
  }
  const bool large_first = derive(prepared.problem.seed, "first sight").value % 2 == 1;
  std::vector<std::tuple<int, int, std::uint64_t, PlannedTrial>> keyed;
  std::uint64_t number = 0;
  for (const PlannedTrial& t : distinct) {
    const int act = act_of(t,
                           large_first != (t.trial.worker == 1),
                           prepared.batches.empty() ? 1 : prepared.batches.back());
    keyed.emplace_back(act,
                       act == 4 ? t.trial.threads : 0,
                       derive(derive(prepared.problem.seed, "sweep"), number++).value,
                       t);
  }
  std::ranges::sort(keyed);
  std::vector<PlannedTrial> order;
  for (auto& [act, threads, key, t] : keyed) order.push_back(std::move(t));
  return order;
}

std::map<PlannedTrial, TrialResult> sweep(Stage& stage, const Prepared& prepared, bool with_peer) {
  stage.set(prepared);
  std::map<PlannedTrial, TrialResult> results;
  for (const PlannedTrial& t : sweep_order(prepared)) {
    const bool runs = with_peer || t.trial.worker != kPeerWorker;
    if (runs) results.emplace(t, stage.run(t));
  }
  return results;
}

std::int64_t run_undisturbed(Stage& stage, const std::function<void()>& pass) {
  std::map<PlannedTrial, int> kills;
  for (std::int64_t killed_before = 0;;) {
    pass();
    const std::vector<PlannedTrial> killed = stage.take_killed();
    const bool last = std::ranges::any_of(
        killed, [&](const PlannedTrial& trial) { return ++kills[trial] >= kKillsInOneTrial; });
    if (killed.empty() || last) return killed_before;
    killed_before += static_cast<std::int64_t>(killed.size());
    stage.renew();
  }
}

}  // namespace bic
