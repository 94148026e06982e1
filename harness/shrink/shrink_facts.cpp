#include "harness/shrink/shrink_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "suites/relations/relation.h"

namespace bic {
namespace {

bool has(const report::CaseResult& result, Reason reason) {
  return std::ranges::find(result.reasons, reason) != result.reasons.end();
}

/// The status of the bytes alone.
Status of_bytes(const report::CaseResult& result) {
  const bool comparable = !has(result, Reason::kShape) && !has(result, Reason::kDtype);
  const bool equal = result.status == Status::kFail && comparable && !differs_in_bits(result);
  return equal ? Status::kPass : result.status;
}

std::optional<Status> of_accuracy(const std::vector<report::CaseResult>& results) {
  std::optional<Status> status;
  for (const report::CaseResult& r : results) {
    if (has(r, Reason::kAccuracy)) return Status::kFail;
    if (r.status == Status::kPass || r.status == Status::kFail) status = Status::kPass;
  }
  return status;
}

}  // namespace

bool differs_in_bits(const report::CaseResult& result) {
  return has(result, Reason::kBits) || has(result, Reason::kNanBits);
}

BitClasses bit_classes(const Prepared& prepared,
                       const std::vector<report::CaseResult>& results,
                       SampleId sample) {
  std::map<std::int64_t, std::string> bits;  // by batch; "" are those of the sample alone
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Case& c = prepared.cases[i];
    if (c.relation != "alone" || c.named.sample != sample || results[i].digest.empty()) continue;
    bits.try_emplace(c.named_against->batch, "");
    bits.try_emplace(c.named.batch, differs_in_bits(results[i]) ? results[i].digest : "");
  }
  BitClasses classes;
  std::map<std::string, std::size_t> number;
  for (const auto& [batch, digest] : bits) {
    const auto [at, added] = number.try_emplace(digest, classes.size());
    if (added) classes.emplace_back();
    classes[at->second].push_back(batch);
  }
  return classes;
}

std::optional<std::int64_t> first_to_differ(const BitClasses& classes) {
  // The first class holds the smallest size of all, the sample alone.
  if (classes.size() < 2) return {};
  return classes[1].front();
}

std::vector<report::RelationOutcome> outcomes(const Prepared& prepared,
                                              const std::vector<report::CaseResult>& results) {
  std::map<std::string_view, Status> worst;  // statuses are in order of precedence
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Status status = of_bytes(results[i]);
    const auto [at, added] = worst.try_emplace(prepared.cases[i].relation, status);
    at->second = std::min(at->second, status);
  }
  std::vector<report::RelationOutcome> all;
  if (const auto status = of_accuracy(results)) {
    all.push_back({std::string(kAccuracyRelation), *status});
  }
  const auto add = [&](const Relation& r) {
    const auto at = worst.find(r.name);
    if (at != worst.end()) all.push_back({std::string(r.name), at->second});
  };
  std::ranges::for_each(relations(), add);
  std::ranges::for_each(device_relations(), add);
  add(peer_relation());
  return all;
}

}  // namespace bic
