#include "suites/models/decoder/temperature_zero.h"

#include <ATen/ops/topk.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "results_schema/error.h"
#include "suites/models/decoder/chance.h"
#include "suites/models/decoder/forward.h"

namespace bic::decoder {
namespace {

/// A prompt that starts like `prompt` for up to all of it and goes on at random.
std::vector<std::int64_t> other_prompt(const pi0::Config& config,
                                       const std::vector<std::int64_t>& prompt,
                                       Seed seed) {
  Chance chance(seed);
  const std::int64_t n = std::ssize(prompt);
  std::vector<std::int64_t> other(prompt.begin(), prompt.begin() + chance.between(0, n));
  const std::int64_t more = chance.between(1, n);
  for (std::int64_t i = 0; i < more; ++i) other.push_back(chance.between(0, config.vocabulary - 1));
  return other;
}

/// The index of the first element whose bytes differ; none where all agree.
std::optional<std::int64_t> first_difference(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  const auto* p = static_cast<const std::byte*>(x.const_data_ptr());
  const auto* q = static_cast<const std::byte*>(y.const_data_ptr());
  const auto [differs, other] = std::mismatch(p, p + x.nbytes(), q, q + y.nbytes());
  if (differs == p + x.nbytes()) return std::nullopt;
  return (differs - p) / static_cast<std::int64_t>(x.element_size());
}

/// Keeps the first by position in the completion; of equals the one that came first.
template <class Difference>
void keep_first(std::optional<Difference>& first, const Difference& found) {
  if (!first || found.position < first->position) first = found;
}

/// The prompt when nobody else is served: its completion and logits [vocabulary], on the host.
struct Alone {
  Completion completion;
  std::vector<at::Tensor> logits;
};

Alone ask_alone(const pi0::Model& model, const Request& request) {
  Alone alone;
  const Load idle{
      .slots = 1, .max_batch = 1, .max_chunk = std::ssize(request.prompt), .reuse_prefixes = false};
  const auto keep = [&](const Request&, std::int64_t, const at::Tensor& logits) {
    alone.logits.push_back(logits.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true));
  };
  alone.completion = serve(model, {request}, idle, keep).completions.front();
  return alone;
}

double least_lead(const std::vector<at::Tensor>& logits) {
  double least = std::numeric_limits<double>::infinity();
  for (const at::Tensor& row : logits) {
    const at::Tensor best = std::get<0>(at::topk(row, 2)).to(at::kDouble);
    least = std::min(least, best[0].item<double>() - best[1].item<double>());
  }
  return least;
}

/// Log-probabilities of a completion's tokens in one pass over prompt and completion.
std::vector<double> trained(const pi0::Pass& pass, const Completion& c) {
  std::vector<std::int64_t> sequence = c.request.prompt;
  sequence.insert(sequence.end(), c.tokens.begin(), c.tokens.end());
  const at::Tensor logits = full_logits(pass, sequence);
  // Row t tells token t + 1; the last one's own row tells nothing that was sampled.
  const std::int64_t first = std::ssize(c.request.prompt) - 1;
  return log_probabilities(pass, logits.slice(0, first, first + std::ssize(c.tokens)), c.tokens);
}

OnPolicy on_policy(const pi0::Pass& pass, const std::vector<Completion>& completions) {
  OnPolicy result;
  std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, std::vector<double>>
      known;
  for (const Completion& c : completions) {
    std::vector<double>& expected = known[{c.request.prompt, c.tokens}];
    if (expected.empty()) expected = trained(pass, c);
    for (std::size_t i = 0; i < c.tokens.size(); ++i) {
      ++result.tokens;
      const double want = expected[i], got = c.log_probabilities[i];
      if (std::bit_cast<std::uint64_t>(want) == std::bit_cast<std::uint64_t>(got)) continue;
      ++result.different;
      result.largest = std::max(result.largest, std::abs(want - got));
      keep_first(result.first,
                 {c.request.id, static_cast<std::int64_t>(i), c.tokens[i], want, got});
    }
  }
  return result;
}

void compare_completions(Answer& answer, const std::vector<Completion>& completions) {
  std::set<std::vector<std::int64_t>> distinct;
  for (const Completion& c : completions) {
    distinct.insert(c.tokens);
    const auto [a, b] = std::mismatch(c.tokens.begin(), c.tokens.end(), answer.alone.begin());
    if (a == c.tokens.end()) continue;
    keep_first(answer.first_token, {c.request.id, a - c.tokens.begin(), *b, *a});
  }
  answer.distinct = std::ssize(distinct);
}

}  // namespace

std::vector<std::int64_t> prompt(std::int64_t tokens) {
  std::vector<std::int64_t> ids;
  for (std::int64_t j = 0; j < tokens; ++j) ids.push_back(1 + 3 * j % 199);
  return ids;
}

std::vector<Request> requests_of(const pi0::Config& config, const Question& q) {
  std::vector<Request> requests;
  for (std::int64_t i = 0; i < q.requests; ++i) requests.push_back({i, q.prompt, q.new_tokens});
  for (std::int64_t i = 0; i < q.others; ++i) {
    const Seed seed = derive(derive(q.load.seed, "others"), static_cast<std::uint64_t>(i));
    requests.push_back(
        {q.requests + i, other_prompt(config, q.prompt, seed), 1 + i % q.new_tokens});
  }
  return requests;
}

Answer ask(const pi0::Model& model, const Question& question) {
  if (question.requests < 1) {
    throw UsageError(
        fmt::format("decoder: {} requests of the prompt; ask at least once", question.requests));
  }
  const Alone alone = ask_alone(model, {-1, question.prompt, question.new_tokens});
  Answer answer{.requests = question.requests,
                .alone = alone.completion.tokens,
                .least_lead = least_lead(alone.logits)};
  const auto compare = [&](const Request& r, std::int64_t position, const at::Tensor& served) {
    if (r.id >= question.requests) return;
    const at::Tensor& expected = alone.logits[static_cast<std::size_t>(position)];
    const at::Tensor got = served.to(at::kCPU);
    const auto token = first_difference(expected, got);
    if (!token) return;
    keep_first(answer.first_logit,
               {r.id,
                position,
                *token,
                expected[*token].item().toDouble(),
                got[*token].item().toDouble()});
  };
  Service service = serve(model, requests_of(model.config, question), question.load, compare);
  answer.traffic = service.traffic;
  answer.on_policy = on_policy(pi0::Pass(model), service.completions);
  service.completions.resize(static_cast<std::size_t>(question.requests));
  compare_completions(answer, service.completions);
  return answer;
}

}  // namespace bic::decoder
