#include "suites/relations/relation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "generators/dims.h"

namespace bic {
namespace {

const Variant& variant(const OpSpec& op, const std::string& name) {
  return *std::ranges::find(op.variants, name, &Variant::name);
}

class Relations : public testing::Test {
 protected:
  Probe probe(std::string_view op, const std::string& variant_name = "") const {
    const OpSpec* spec = find_op(op);
    return {.op = spec,
            .variant = &variant(*spec, variant_name),
            .dtype = DType::kFloat32,
            .seed = Seed{7},
            .telling = telling,
            .batches = batch_sizes(),
            .sweeps = false};
  }

  std::vector<TrialPair> pairs(std::string_view relation, const Probe& p) const {
    return find_relation(relation)->pairs(p);
  }

  std::vector<SampleId> telling{{3}, {8}};
};

std::vector<Relation> every_relation() {
  std::vector<Relation> all(relations().begin(), relations().end());
  all.insert(all.end(), device_relations().begin(), device_relations().end());
  all.push_back(peer_relation());
  return all;
}

TEST_F(Relations, HaveUniqueNamesInTheOrderOfLevels) {
  std::set<std::string_view> names;
  Level last = Level::kRepeatable;
  for (const Relation& r : relations()) {
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    EXPECT_GE(r.level, last) << r.name;
    last = r.level;
  }
  EXPECT_EQ(find_relation("no such relation"), nullptr);
  EXPECT_EQ(find_relation("peer"), &peer_relation());
  EXPECT_FALSE(names.contains("peer")) << "levels are not made of it";
}

TEST_F(Relations, CompareDifferentTrialsOfOneSample) {
  for (const OpSpec& op : registry()) {
    for (const Variant& v : op.variants) {
      const Probe p = probe(op.name, v.name);
      for (const Relation& r : every_relation()) {
        if (!r.required(op, v)) continue;
        const auto all = r.pairs(p);
        EXPECT_FALSE(all.empty()) << op.name << " " << r.name;
        for (const TrialPair& pair : all) {
          EXPECT_NE(pair.trial, pair.against) << op.name << " " << r.name;
          EXPECT_EQ(pair.trial.sample, pair.against.sample);
          EXPECT_LT(pair.trial.position, pair.trial.batch);
        }
      }
    }
  }
}

TEST_F(Relations, GiveTheSamePairsForTheSameProbe) {
  for (const Relation& r : every_relation()) {
    const Probe p = probe("mm");
    const auto first = r.pairs(p), second = r.pairs(p);
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].trial, second[i].trial);
  }
}

TEST_F(Relations, AloneMeetsEveryBatchSizeWithEachTellingSample) {
  std::set<std::pair<std::int64_t, SampleId>> seen;
  for (const TrialPair& pair : pairs("alone", probe("mm"))) {
    EXPECT_EQ(pair.against.batch, 1);
    seen.emplace(pair.trial.batch, pair.trial.sample);
  }
  for (std::int64_t batch : batch_sizes()) {
    for (SampleId s : telling) {
      EXPECT_TRUE(batch == 1 || seen.contains({batch, s})) << batch;
    }
  }
}

TEST_F(Relations, AloneAndPeerMeetEverySampleOfASweep) {
  std::vector<SampleId> many;
  for (std::uint32_t i = 0; i < 40; ++i) many.push_back({i});
  Probe p = probe("gelu");
  p.telling = many;
  p.sweeps = true;
  for (const char* relation : {"alone", "peer"}) {
    std::set<SampleId> seen;
    for (const TrialPair& pair : pairs(relation, p)) {
      if (pair.trial.batch == p.largest()) seen.insert(pair.trial.sample);
    }
    EXPECT_EQ(seen.size(), many.size()) << relation;
  }
}

TEST_F(Relations, PeerComparesEqualTrialsOfTwoBackends) {
  std::set<std::int64_t> batches;
  std::set<SampleId> seen_alone;
  for (const TrialPair& pair : pairs("peer", probe("mm"))) {
    Trial here = pair.against;
    here.worker = 0;
    EXPECT_EQ(pair.against.worker, kPeerWorker);
    EXPECT_EQ(pair.trial, here);
    batches.insert(pair.trial.batch);
    if (pair.trial.batch == 1) seen_alone.insert(pair.trial.sample);
  }
  EXPECT_EQ(batches, (std::set<std::int64_t>{1, 2, 7, 33, 257}));
  EXPECT_EQ(seen_alone.size(), telling.size());
}

TEST_F(Relations, LayoutReachesAllOffsetsOverSomeProblems) {
  std::set<int> offsets;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Probe p = probe("mm");
    p.seed = Seed{seed};
    for (const TrialPair& pair : pairs("layout", p)) offsets.insert(pair.trial.offset);
  }
  for (int offset = 0; offset <= 15; ++offset) EXPECT_TRUE(offsets.contains(offset)) << offset;
}

TEST_F(Relations, NeighboursAreOnceOfEachHostileLaw) {
  std::set<Law> laws;
  for (const TrialPair& pair : pairs("neighbours", probe("mm"))) {
    EXPECT_EQ(pair.trial.neighbours, 1);
    EXPECT_EQ(pair.against.neighbours, 0);
    if (pair.neighbour_law) laws.insert(*pair.neighbour_law);
  }
  EXPECT_EQ(laws.size(), 5u);
}

TEST_F(Relations, ZeropadIsForContractionsAndMaskedAxes) {
  const Relation& zeropad = *find_relation("zeropad");
  const auto required = [&](const char* op, const char* name) {
    return zeropad.required(*find_op(op), variant(*find_op(op), name));
  };
  for (const char* op : {"bmm", "softmax", "log_softmax", "log_softmax_fp32", "logsumexp"}) {
    EXPECT_TRUE(required(op, "")) << op;
  }
  EXPECT_FALSE(required("sum", ""));
  for (const char* masked : {"bool_mask", "float_mask", "causal"}) {
    EXPECT_TRUE(required("scaled_dot_product_attention", masked)) << masked;
  }
  EXPECT_FALSE(required("scaled_dot_product_attention", "gqa")) << "nothing masks its keys";
}

TEST_F(Relations, ZeropadAppendsToTheMaskedAxis) {
  for (const auto& [op, dim] : {std::pair{"mm", "k"}, {"softmax", "h"}, {"logsumexp", "h"}}) {
    for (const TrialPair& pair : pairs("zeropad", probe(op))) {
      EXPECT_EQ(pair.trial.pad_dim, dim);
      EXPECT_FALSE(pair.trial.pad_nan);
    }
  }
}

TEST_F(Relations, ChunkIsForRowsOfOneSample) {
  const Relation& chunk = *find_relation("chunk");
  std::set<std::string> cut;
  for (const OpSpec& op : registry()) {
    for (const Variant& v : op.variants) {
      if (chunk.required(op, v)) cut.insert(op.name + "-" + v.name);
    }
  }
  const std::string attention = "scaled_dot_product_attention-";
  for (const std::string& name : {std::string("bmm-"),
                                  std::string("bmm-heads"),
                                  std::string("softmax-middle"),
                                  std::string("log_softmax-middle"),
                                  attention + "causal",
                                  attention + "bool_mask",
                                  attention + "float_mask"}) {
    EXPECT_TRUE(cut.contains(name)) << name;
  }
}

TEST_F(Relations, NameNoPairTwice) {
  for (const std::vector<std::int64_t>& own :
       {std::vector<std::int64_t>{1}, {1, 2}, {1, 2, 128}, {1, 5, 64, 512}, {7}}) {
    Probe p = probe("mm");
    p.batches = own;
    for (const Relation& r : every_relation()) {
      std::set<std::tuple<Trial, Trial, std::optional<Law>>> seen;
      for (const TrialPair& pair : r.pairs(p)) {
        EXPECT_TRUE(seen.emplace(pair.trial, pair.against, pair.neighbour_law).second)
            << r.name << " of " << own.size() << " sizes up to " << own.back();
      }
    }
  }
}

TEST_F(Relations, KeepToTheUsersBatchSizes) {
  const std::vector<std::int64_t> own{1, 48};
  Probe p = probe("mm");
  p.batches = own;
  for (const Relation& r : every_relation()) {
    for (const TrialPair& pair : r.pairs(p)) {
      EXPECT_TRUE(pair.trial.batch == 1 || pair.trial.batch == 48) << r.name;
    }
  }
}

}  // namespace
}  // namespace bic
