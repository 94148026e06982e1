#include "adapters/faults/catalog.h"

#include <algorithm>
#include <array>
#include <utility>

#include "adapters/faults/catalog_entries.h"

namespace bic::faults {
namespace {

struct Group {
  std::string_view name;
  Entries (*entries)();
};

constexpr Group kGroups[] = {
    {"split-by-batch", split_faults},
    {"moving-tail", tail_faults},
    {"one-place", place_faults},
    {"layout", layout_faults},
    {"threads", thread_faults},
    {"form", form_faults},
    {"padding", padding_faults},
    {"attention", attention_faults},
    {"leak", leak_faults},
    {"state", state_faults},
    {"noise", noise_faults},
    {"rng", rng_faults},
    {"precision", precision_faults},
    {"formula", formula_faults},
    {"special-values", special_value_faults},
    {"stale-memory", stale_faults},
    {"out-of-bounds", bounds_faults},
    {"contract", contract_faults},
    {"death", death_faults},
};

std::vector<Fault> make_catalog() {
  std::vector<Fault> all;
  for (const Group& group : kGroups) {
    for (Fault& fault : group.entries()) {
      fault.group = group.name;
      all.push_back(std::move(fault));
    }
  }
  return all;
}

}  // namespace

std::span<const Fault> catalog() {
  static const std::vector<Fault> kAll = make_catalog();
  return kAll;
}

std::span<const std::string_view> groups() {
  static const auto kNames = [] {
    std::array<std::string_view, std::size(kGroups)> names;
    std::ranges::transform(kGroups, names.begin(), &Group::name);
    return names;
  }();
  return kNames;
}

const Fault* find(std::string_view name) {
  const auto all = catalog();
  const auto at = std::ranges::find(all, name, &Fault::name);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace bic::faults
