#include "suites/relations/relation.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "generators/dims.h"
#include "suites/relations/declarations.h"

namespace bic {

std::span<const Relation> relations() {
  static const std::array kRelations{repeat(),
                                     fresh(),
                                     alone_relation(),
                                     twins(),
                                     permute(),
                                     neighbours(),
                                     layout(),
                                     forms(),
                                     pad(),
                                     threads(),
                                     zeropad(),
                                     chunk(),
                                     rank()};
  return kRelations;
}

std::span<const Relation> device_relations() {
  static const std::array kRelations{stream(), graph()};
  return kRelations;
}

const Relation& peer_relation() {
  static const Relation kPeer = peer();
  return kPeer;
}

std::vector<std::string> relation_names() {
  std::vector<std::string> names;
  for (const auto all : {relations(), device_relations()}) {
    for (const Relation& r : all) names.emplace_back(r.name);
  }
  names.emplace_back(peer_relation().name);
  return names;
}

const Relation* find_relation(std::string_view name) {
  if (name == peer_relation().name) return &peer_relation();
  for (const auto all : {relations(), device_relations()}) {
    const auto at = std::ranges::find(all, name, &Relation::name);
    if (at != all.end()) return &*at;
  }
  return nullptr;
}

bool has_batch(const Variant& variant) { return batch_axis(variant.output) >= 0; }

std::int64_t batch_near(const Probe& probe, std::int64_t wanted) {
  std::int64_t best = 0;
  for (std::int64_t b : probe.batches) {
    if (b > 1 && (best == 0 || std::abs(b - wanted) < std::abs(best - wanted))) best = b;
  }
  return best;
}

std::int64_t position_in(const Probe& probe, std::int64_t batch, std::size_t which) {
  const std::vector<std::int64_t> choices = positions(batch);
  const Seed s = derive(derive(derive(probe.seed, "position"), batch), which);
  return choices[s.value % choices.size()];
}

Trial placed(const Probe& probe, std::int64_t batch, std::size_t which) {
  Trial t;
  t.batch = batch;
  t.sample = probe.telling[which % probe.telling.size()];
  t.position =
      probe.sweeps ? static_cast<std::int64_t>(which) % batch : position_in(probe, batch, which);
  return t;
}

Trial alone(SampleId sample) {
  Trial t;
  t.sample = sample;
  return t;
}

}  // namespace bic
