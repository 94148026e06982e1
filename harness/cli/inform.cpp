#include "harness/cli/inform.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "adapters/faults/catalog.h"
#include "harness/cli/glossary.h"
#include "harness/cli/ops_page.h"
#include "harness/plan/shapes.h"
#include "harness/workers/backends.h"
#include "harness/workers/environment.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"
#include "results_schema/signing/evidence.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

Rows ops() {
  Rows rows;
  for (const OpSpec& op : registry()) rows.emplace_back(op.name, op.formula);
  return rows;
}

Rows relation_rows() {
  Rows rows;
  for (const Relation& r : relations()) {
    rows.emplace_back(std::string(r.name), fmt::format("{}: {}", name(r.level), r.claim));
  }
  for (const Relation& r : device_relations()) {
    rows.emplace_back(std::string(r.name),
                      fmt::format("{}, --device cuda: {}", name(r.level), r.claim));
  }
  rows.emplace_back(peer_relation().name, fmt::format("--against: {}", peer_relation().claim));
  return rows;
}

Rows backend_rows() {
  Rows rows;
  for (const KnownBackend& b : known_backends()) rows.emplace_back(b.name, b.sentence);
  return rows;
}

Rows fault_rows() {
  Rows rows;
  for (const faults::Fault& f : faults::catalog()) {
    rows.emplace_back(std::string(f.name), fmt::format("{}: {}", f.group, f.sentence));
  }
  return rows;
}

Rows public_rows() {
  Rows rows;
  for (const ShapeRow& r : public_reports()) {
    if (!rows.empty() && rows.back().first == r.id) continue;  // further sizes of the same report
    rows.emplace_back(r.id, r.label + (r.note.empty() ? "" : "; " + r.note));
  }
  return rows;
}

void print(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& [word, sentence] : rows) width = std::max(width, word.size());
  for (const auto& [word, sentence] : rows) fmt::print("{:<{}}  {}\n", word, width, sentence);
}

std::string join(const std::vector<DType>& dtypes) {
  std::vector<std::string_view> names;
  for (DType t : dtypes) names.push_back(name(t));
  return fmt::to_string(fmt::join(names, " "));
}

}  // namespace

int list(const std::string& what) {
  const std::map<std::string, Rows (*)()> kinds{{"ops", ops},
                                                {"relations", relation_rows},
                                                {"laws", law_rows},
                                                {"faults", fault_rows},
                                                {"public", public_rows},
                                                {"backends", backend_rows}};
  const auto at = kinds.find(what);
  if (at == kinds.end()) {
    std::vector<std::string> known;
    for (const auto& [kind, rows] : kinds) known.push_back(kind);
    throw UsageError(fmt::format("list: unknown kind '{}'{} (known: {})",
                                 what,
                                 did_you_mean(what, known),
                                 fmt::join(known, ", ")));
  }
  print(at->second());
  return 0;
}

int print_ops_page(const WorkerLaunch& stock, const WorkerLaunch& bundled) {
  const Worker a(stock), b(bundled);
  fmt::print("{}", ops_page(a.hello().manifest, b.hello().manifest));
  return 0;
}

int support(const WorkerLaunch& backend, const std::string& nonce) {
  const Worker worker(backend);
  fmt::print("{} on {}\n", worker.hello().backend, worker.hello().device);
  for (const auto& [key, value] : worker.hello().fingerprint) {
    if (key == "lifted") fmt::print("ATen's overloads that are the plug-in's: {}\n", value);
    if (key == "not_lifted") fmt::print("claimed ops that are not one call of ATen's: {}\n", value);
  }
  for (const protocol::ManifestEntry& e : worker.hello().manifest) {
    fmt::print("{:<12} {:<20} {}\n",
               e.op,
               join(e.dtypes),
               e.own.empty() ? "stock (" + e.stock_reason + ")"
                             : "own: " + fmt::to_string(fmt::join(e.own, ", ")));
    for (const auto& [dtype, a] : e.arithmetic) {
      fmt::print("  {:<5} sums in {}{}{}; {}\n",
                 name(dtype),
                 name(a.accumulator),
                 a.form.empty() ? "" : ", " + a.form,
                 a.flushes_subnormals ? ", flushes subnormals" : "",
                 a.source);
    }
  }
  for (const auto& [op, why] : worker.hello().absent)
    fmt::print("{:<12} not claimed: {}\n", op, why);
  if (nonce.empty()) return 0;
  const std::string digest = signing::manifest_sha256(describe_subject(worker.hello()));
  fmt::print("seed for this nonce: {}\n", to_string(signing::seed_for(digest, nonce)));
  return 0;
}

int explain(const std::string& word) {
  Rows rows = glossary();
  for (Rows (*more)() : {ops, relation_rows, law_rows, public_rows}) {
    for (auto& row : more()) rows.push_back(row);
  }
  std::vector<std::string> known;
  for (const auto& [name, sentence] : rows) {
    known.push_back(name);
    if (name != word) continue;
    fmt::print("{}: {}\n", name, sentence);
    return 0;
  }
  throw UsageError(
      fmt::format("explain: the reports have no word '{}'{}", word, did_you_mean(word, known)));
}

}  // namespace bic
