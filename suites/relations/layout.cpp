#include "suites/relations/declarations.h"

namespace bic {
namespace {

constexpr int kOffsets = 16;  // elements: every alignment of a 64-byte line in fp32

/// Five of the offsets 1…15 a problem, all of them over three problems: the seed says which.
void add_offsets(const Probe& probe, std::vector<TrialPair>& all) {
  const Seed s = derive(probe.seed, "offsets");
  for (int i = 0; i < 5; ++i) {
    const int offset = 1 + static_cast<int>((s.value + 3 * i) % (kOffsets - 1));
    const std::int64_t batch = i % 2 == 0 ? 1 : batch_near(probe, 17);
    if (batch == 0) continue;
    const Trial t = batch == 1 ? alone(probe.telling[0]) : placed(probe, batch, i);
    Trial shifted = t;
    shifted.offset = offset;
    all.push_back({shifted, t, {}});
  }
}

bool has_rank(const Variant& variant, std::size_t rank) {
  for (const TensorSpec& t : variant.inputs) {
    if (t.axes.size() >= rank) return true;
  }
  return false;
}

bool is_stacked(const Variant& variant) {
  for (const TensorSpec& t : variant.inputs) {
    for (const std::string& axis : t.axes) {
      if (axis == "B") return true;
    }
  }
  return false;
}

void add_storages(const Probe& probe, std::vector<TrialPair>& all) {
  const std::int64_t batch = batch_near(probe, 8);
  const Trial t = batch == 0 ? alone(probe.telling[0]) : placed(probe, batch, 0);
  for (int gap : {1, 5}) {
    Trial gapped = t;
    gapped.row_gap = gap;
    if (has_rank(*probe.variant, 2)) all.push_back({gapped, t, {}});
  }
  for (Storage storage : {Storage::kTransposed, Storage::kOuterSwapped}) {
    Trial stored = t;
    stored.storage = storage;
    const std::size_t rank = storage == Storage::kTransposed ? 2 : 3;
    if (has_rank(*probe.variant, rank)) all.push_back({stored, t, {}});
  }
  if (batch == 0 || !is_stacked(*probe.variant)) return;
  Trial copies = t;
  copies.company = Company::kTwins;
  copies.position = 0;
  Trial expanded = copies;
  expanded.storage = Storage::kExpanded;
  all.push_back({expanded, copies, {}});
}

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  add_offsets(probe, all);
  add_storages(probe, all);
  return all;
}

}  // namespace

Relation layout() {
  return {.name = "layout",
          .level = Level::kComposition,
          .claim = "bits do not depend on alignment, leading dimension or strides",
          .required = [](const OpSpec&, const Variant&) { return true; },
          .pairs = pairs};
}

}  // namespace bic
