#include "suites/models/decoder/scheduler.h"

#include <ATen/ops/stack.h>

#include <algorithm>
#include <deque>
#include <set>

#include "results_schema/error.h"
#include "suites/models/decoder/chance.h"
#include "suites/models/decoder/forward.h"

namespace bic::decoder {
namespace {

/// A slot, and the request that it is for.
struct Slot {
  std::vector<std::int64_t> held;  ///< tokens whose keys and values it has
  Completion* serving = nullptr;
  std::int64_t chunks = 0;  ///< into which the prompt was cut

  /// The tokens of the request that were not evaluated yet.
  std::vector<std::int64_t> pending() const {
    std::vector<std::int64_t> all = serving->request.prompt;
    all.insert(all.end(), serving->tokens.begin(), serving->tokens.end());
    return {all.begin() + std::ssize(held), all.end()};
  }
  bool is_decoding() const { return !serving->tokens.empty(); }
};

std::int64_t common_prefix(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

std::int64_t longest(const std::vector<Request>& requests) {
  std::int64_t tokens = 0;
  for (const Request& r : requests) {
    tokens = std::max(tokens, std::ssize(r.prompt) + r.new_tokens);
  }
  return tokens;
}

class Scheduler {
 public:
  Scheduler(const pi0::Pass& pass,
            const std::vector<Request>& requests,
            const Load& load,
            const SeesLogits& sees)
      : pass_(pass),
        load_(load),
        sees_(sees),
        chance_(derive(load.seed, "scheduler")),
        cache_(pass, load.slots, longest(requests)),
        slots_(static_cast<std::size_t>(load.slots)) {
    for (const Request& r : requests) service_.completions.push_back({r, {}, {}});
    std::vector<Completion*> arrivals;
    for (Completion& c : service_.completions) arrivals.push_back(&c);
    chance_.shuffle(arrivals);
    queue_ = {arrivals.begin(), arrivals.end()};
  }

  Service run() {
    while (admit(), !running().empty()) step();
    service_.traffic.batch_sizes = std::ssize(batch_sizes_);
    return std::move(service_);
  }

 private:
  std::vector<std::size_t> slots_that(bool serve) const {
    std::vector<std::size_t> list;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      if ((slots_[s].serving != nullptr) == serve) list.push_back(s);
    }
    return list;
  }
  std::vector<std::size_t> running() const { return slots_that(true); }

  /// Some of those that wait join; somebody does when nobody is being served.
  void admit() {
    std::vector<std::size_t> free = slots_that(false);
    chance_.shuffle(free);
    const std::int64_t most = std::min(std::ssize(free), std::ssize(queue_));
    const std::int64_t least = running().empty() ? std::min<std::int64_t>(most, 1) : 0;
    const std::int64_t joining = chance_.between(least, most);
    for (std::int64_t i = 0; i < joining; ++i) {
      join(free[static_cast<std::size_t>(i)], *queue_.front());
      queue_.pop_front();
    }
  }

  void join(std::size_t s, Completion& completion) {
    const std::vector<std::int64_t>& prompt = completion.request.prompt;
    std::int64_t rows = 0;
    if (load_.reuse_prefixes) {
      const auto [from, shared] = best_prefix(prompt);
      rows = chance_.between(0, shared);
      cache_.copy(static_cast<std::int64_t>(from), static_cast<std::int64_t>(s), rows);
      service_.traffic.reused_tokens += rows;
    }
    slots_[s] = {{prompt.begin(), prompt.begin() + rows}, &completion, 0};
  }

  /// The slot that holds most of a prompt, and how much. Its last token is always evaluated: the
  /// first logits come from there.
  std::pair<std::size_t, std::int64_t> best_prefix(const std::vector<std::int64_t>& prompt) const {
    std::pair<std::size_t, std::int64_t> best{0, 0};
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      const std::int64_t shared =
          std::min(common_prefix(slots_[s].held, prompt), std::ssize(prompt) - 1);
      if (shared > best.second) best = {s, shared};
    }
    return best;
  }

  /// One forward pass over some of those that are being served, in any order.
  void step() {
    std::vector<std::size_t> batch = running();
    chance_.shuffle(batch);
    const std::int64_t most = std::min(load_.max_batch, std::ssize(batch));
    batch.resize(static_cast<std::size_t>(chance_.between(1, most)));
    const std::vector<Chunk> chunks = cut(batch);
    count(batch);
    const at::Tensor hidden = last_hidden(pass_, cache_, chunks);
    std::vector<std::size_t> ready;
    std::vector<at::Tensor> rows;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      Slot& slot = slots_[batch[b]];
      slot.held.insert(slot.held.end(), chunks[b].tokens.begin(), chunks[b].tokens.end());
      if (!slot.pending().empty()) continue;
      ready.push_back(batch[b]);
      rows.push_back(hidden.select(0, static_cast<std::int64_t>(b)));
    }
    if (!ready.empty()) sample(ready, head(pass_, at::stack(rows)));
  }

  std::vector<Chunk> cut(const std::vector<std::size_t>& batch) {
    std::vector<Chunk> chunks;
    for (const std::size_t s : batch) {
      Slot& slot = slots_[s];
      std::vector<std::int64_t> tokens = slot.pending();
      const std::int64_t most = std::min(load_.max_chunk, std::ssize(tokens));
      tokens.resize(static_cast<std::size_t>(chance_.between(1, most)));
      chunks.push_back({static_cast<std::int64_t>(s), std::ssize(slot.held), std::move(tokens)});
      if (!slot.is_decoding() && ++slot.chunks == 2) ++service_.traffic.cut_prompts;
    }
    return chunks;
  }

  void count(const std::vector<std::size_t>& batch) {
    const std::int64_t n = std::ssize(batch);
    const std::int64_t decoding = std::count_if(
        batch.begin(), batch.end(), [&](std::size_t s) { return slots_[s].is_decoding(); });
    Traffic& traffic = service_.traffic;
    ++traffic.passes;
    if (decoding > 0 && decoding < n) ++traffic.mixed_passes;
    traffic.largest_batch = std::max(traffic.largest_batch, n);
    batch_sizes_.insert(n);
  }

  void sample(const std::vector<std::size_t>& ready, const at::Tensor& logits) {
    const std::vector<std::int64_t> tokens = greedy(logits);
    const std::vector<double> log_p = log_probabilities(pass_, logits, tokens);
    for (std::size_t r = 0; r < ready.size(); ++r) {
      Completion& c = *slots_[ready[r]].serving;
      if (sees_) {
        sees_(c.request, std::ssize(c.tokens), logits.select(0, static_cast<std::int64_t>(r)));
      }
      c.tokens.push_back(tokens[r]);
      c.log_probabilities.push_back(log_p[r]);
      if (std::ssize(c.tokens) == c.request.new_tokens) slots_[ready[r]].serving = nullptr;
    }
  }

  const pi0::Pass& pass_;
  const Load& load_;
  const SeesLogits& sees_;
  Chance chance_;
  KvSlots cache_;
  std::vector<Slot> slots_;
  std::deque<Completion*> queue_;
  Service service_;
  std::set<std::int64_t> batch_sizes_;
};

void check(const Load& load) {
  for (const auto& [name, limit] : {std::pair("slots", load.slots),
                                    std::pair("max_batch", load.max_batch),
                                    std::pair("max_chunk", load.max_chunk)}) {
    if (limit < 1) throw UsageError(fmt::format("decoder: {} = {}; give at least 1", name, limit));
  }
}

void check(const pi0::Config& config, const Request& r) {
  if (r.prompt.empty()) {
    throw UsageError(fmt::format("decoder: request {} has no prompt; give a token", r.id));
  }
  if (r.new_tokens < 1) {
    throw UsageError(fmt::format(
        "decoder: request {} asks for {} tokens; ask for at least 1", r.id, r.new_tokens));
  }
  for (const std::int64_t token : r.prompt) {
    if (token >= 0 && token < config.vocabulary) continue;
    throw UsageError(fmt::format("decoder: request {} has token {}; '{}' knows 0 to {}",
                                 r.id,
                                 token,
                                 config.name,
                                 config.vocabulary - 1));
  }
}

}  // namespace

Service serve(const pi0::Model& model,
              const std::vector<Request>& requests,
              const Load& load,
              const SeesLogits& sees) {
  for (const Request& r : requests) check(model.config, r);
  check(load);
  const pi0::Pass pass(model);
  return Scheduler(pass, requests, load, sees).run();
}

}  // namespace bic::decoder
