#include "harness/plan/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/plan/suite_parts.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using testing::HasSubstr;

constexpr auto kHeader = "label,op,dims,batch\n";

std::string complaint(const std::string& text) {
  try {
    parse_shapes(text, "f.csv");
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Shapes, ReadsCsv) {
  const auto rows =
      parse_shapes(std::string("# comment\n") + kHeader + "q,mm,k=64 n=9,1 8\n\nr,sum,h=7,\n", "f");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].label, "q");
  EXPECT_EQ(rows[0].op->name, "mm");
  EXPECT_EQ(rows[0].dims, (Dims{{"k", 64}, {"n", 9}}));
  EXPECT_EQ(rows[0].batches, (std::vector<std::int64_t>{1, 8}));
  EXPECT_TRUE(rows[1].batches.empty());
}

TEST(Shapes, ReadsJsonLinesAsTheSameRows) {
  const auto csv = parse_shapes(std::string(kHeader) + "q,mm,k=64 n=9,1 8\n", "f");
  const auto json = parse_shapes(
      R"({"label": "q", "op": "mm", "dims": {"k": 64, "n": 9}, "batch": [1, 8]})", "f");
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0].dims, csv[0].dims);
  EXPECT_EQ(json[0].batches, csv[0].batches);
  EXPECT_EQ(json[0].op, csv[0].op);
}

TEST(Shapes, ReadsWhatARowSaysBesideItsSizes) {
  const auto rows = parse_shapes(
      "op,variant,dtype,dims,batch,laws,accuracy,attributes,note,id,label\n"
      "baddbmm,scaled,fp16 fp64,k=128 m=1,,normal wide,ones,alpha=0x1p-3,why,c17,who\n"
      "linear,default,,k=64,,none,,,,,\n",
      "f");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].variant->name, "scaled");
  EXPECT_EQ(rows[0].dtypes, (std::vector{DType::kFloat16, DType::kFloat64}));
  EXPECT_EQ(rows[0].laws, (std::vector{Law::kNormal, Law::kWide}));
  EXPECT_EQ(rows[0].accuracy_laws, std::vector{Law::kOnes});
  EXPECT_EQ(rows[0].attributes, (Attributes{{"alpha", "0x1p-3"}}));
  EXPECT_EQ(rows[0].id, "c17");
  EXPECT_EQ(rows[0].label + ": " + rows[0].note, "who: why");
  EXPECT_TRUE(rows[0].proves_bits);
  EXPECT_EQ(rows[1].variant->name, "");
  EXPECT_EQ(variants_of(rows[1]).size(), 1u);
  EXPECT_FALSE(rows[1].proves_bits);
}

TEST(Shapes, NamesTheLineAndTheValueAtFault) {
  const std::string h = kHeader;
  EXPECT_THAT(complaint(""), HasSubstr("no rows"));
  EXPECT_THAT(complaint("op,batch\n"), HasSubstr("f.csv:1: 'op,batch' is no header"));
  EXPECT_THAT(complaint("op,dim\n"), HasSubstr("no column 'dim'; did you mean 'dims'?"));
  EXPECT_THAT(complaint(h + "a,mn,k=4,\n"),
              HasSubstr("f.csv:2: unknown op 'mn'; did you mean 'mm'?"));
  EXPECT_THAT(complaint(h + "a,mm,k=x,\n"), HasSubstr("'x' is not a whole number"));
  EXPECT_THAT(complaint(h + "a,mm,k=0,\n"), HasSubstr("'0' is not a whole number"));
  EXPECT_THAT(complaint(h + "a,mm,k4,\n"), HasSubstr("'k4' is not DIM=NUMBER"));
  EXPECT_THAT(complaint(h + "a,mm,q=4,\n"), HasSubstr("'q' is no dim of 'mm' (known: k, n)"));
  EXPECT_THAT(complaint(h + "a,mm,k=4\n"), HasSubstr("3 columns, expected 4"));
  EXPECT_THAT(complaint(h + "a,linear,s=4 q=2,\n"), HasSubstr("'q' is no dim"));
  EXPECT_THAT(complaint("{\"op\": \"mm\"}"), HasSubstr("f.csv:1"));
  EXPECT_THAT(complaint("{\"op\": \"mm\", \"dims\": {\"k\": 4}, \"x\": 1}"),
              HasSubstr("unknown key 'x'"));
  EXPECT_THAT(complaint("{"), HasSubstr("f.csv:1"));
}

TEST(Shapes, RefuseWhatTheOpHasNot) {
  const auto one = [](const std::string& columns, const std::string& cells) {
    return complaint("op,dims," + columns + "\n" + cells + "\n");
  };
  EXPECT_THAT(one("variant", "mm,k=4,bias"), HasSubstr("no variant 'bias' (known: default)"));
  EXPECT_THAT(one("variant", "linear,s=2,bias"), HasSubstr("no variant of 'linear'"));
  EXPECT_THAT(one("dtype", "mm,k=4,fp23"), HasSubstr("unknown dtype 'fp23'"));
  EXPECT_THAT(one("laws", "mm,k=4,normal canceled"), HasSubstr("unknown law 'canceled'"));
  EXPECT_THAT(one("accuracy", "mm,k=4,none"), HasSubstr("unknown law 'none'"));
  EXPECT_THAT(one("relations", "mm,k=4,repeat alon"), HasSubstr("unknown relation 'alon'"));
  EXPECT_THAT(one("attributes", "addmm,k=64,alpha=0x1p-3"), HasSubstr("no attribute 'alpha="));
  EXPECT_THAT(one("attributes", "mm,k=4,alpha"), HasSubstr("'alpha' is not NAME=VALUE"));
  EXPECT_THAT(one("id", "mm,k=4,C-1"), HasSubstr("the id 'C-1'"));
}

TEST(Shapes, FitsVariantsThatHaveAllDims) {
  const auto rows = parse_shapes(std::string(kHeader) + "a,linear,k=64 t=3,\n", "f");
  const auto fitting = variants_of(rows[0]);
  EXPECT_FALSE(fitting.empty());
  for (const Variant* v : fitting) EXPECT_TRUE(mentions(*v, "t")) << v->name;
}

TEST(Shapes, OfPublicModelsShip) {
  std::set<std::string> models;
  for (const ShapeRow& row : model_shapes()) models.insert(row.label.substr(0, 3));
  for (const char* model : {"pi0", "Gem", "Lla", "Qwe"})
    EXPECT_TRUE(models.contains(model)) << model;
}

TEST(Shapes, OfTheModelsAreOfThoseThatTheyAreCalledWith) {
  std::set<std::string> ops;
  EXPECT_GT(pi0_ops().size(), pi0_ops_tiny().size());
  for (const ShapeRow& row : pi0_ops()) {
    EXPECT_FALSE(row.label.empty() || row.variant == nullptr || row.dtypes.empty());
    EXPECT_GE(row.batches.size(), 2u) << row.label;
    ops.insert(row.op->name);
  }
  for (const char* op : {"addmm", "bmm", "conv2d", "layer_norm", "matmul", "mean", "softmax"}) {
    EXPECT_TRUE(ops.contains(op)) << op;
  }
}

// Each case may take a hundred times as long as elsewhere.
TEST(Shapes, ForMemoryCheckersGoEveryWayWithFewTrials) {
  std::set<std::pair<std::string, const Variant*>> seen;
  for (const ShapeRow& row : sanitize_ops()) {
    EXPECT_FALSE(row.relations.empty()) << row.label << row.op->name;
    EXPECT_LE(row.batches.size(), 2u) << row.label << row.op->name;
    EXPECT_LE(row.accuracy_laws.size(), 1u) << row.label << row.op->name;
    ASSERT_NE(row.variant, nullptr) << row.label << row.op->name;
    for (const DimRange& d : row.op->dims) {
      const bool given = row.dims.contains(d.name) || !mentions(*row.variant, d.name);
      EXPECT_TRUE(given) << row.op->name << row.variant->name << d.name;
    }
    seen.emplace(row.op->name, row.variant);
  }
  EXPECT_GE(seen.size(), 100u);
}

TEST(Shapes, OfPublicReportsNameTheirReport) {
  std::set<std::string> ids;
  for (const ShapeRow& row : public_reports()) {
    EXPECT_FALSE(row.id.empty() || row.label.empty()) << row.id << row.label;
    EXPECT_NE(row.variant, nullptr) << row.id;
    EXPECT_FALSE(row.dtypes.empty()) << row.id;
    ids.insert(row.id);
  }
  EXPECT_GE(ids.size(), 60u);
}

}  // namespace
}  // namespace bic
