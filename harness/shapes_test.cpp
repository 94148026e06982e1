#include "harness/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

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

TEST(Shapes, NamesTheLineAndTheValueAtFault) {
  const std::string h = kHeader;
  EXPECT_THAT(complaint(""), HasSubstr("no rows"));
  EXPECT_THAT(complaint("op,dims\n"), HasSubstr("f.csv:1: 'op,dims' is not the header"));
  EXPECT_THAT(complaint(h + "a,mn,k=4,\n"),
              HasSubstr("f.csv:2: unknown op 'mn'; did you mean 'mm'?"));
  EXPECT_THAT(complaint(h + "a,mm,k=x,\n"), HasSubstr("'x' is not a whole number"));
  EXPECT_THAT(complaint(h + "a,mm,k=0,\n"), HasSubstr("'0' is not a whole number"));
  EXPECT_THAT(complaint(h + "a,mm,k4,\n"), HasSubstr("'k4' is not DIM=NUMBER"));
  EXPECT_THAT(complaint(h + "a,mm,q=4,\n"), HasSubstr("'q' is no dim of 'mm' (known: k, n)"));
  EXPECT_THAT(complaint(h + "a,mm,k=4\n"), HasSubstr("3 columns"));
  EXPECT_THAT(complaint(h + "a,linear,s=4 q=2,\n"), HasSubstr("'q' is no dim"));
  EXPECT_THAT(complaint("{\"op\": \"mm\"}"), HasSubstr("f.csv:1"));
  EXPECT_THAT(complaint("{\"op\": \"mm\", \"dims\": {\"k\": 4}, \"x\": 1}"),
              HasSubstr("unknown key 'x'"));
  EXPECT_THAT(complaint("{"), HasSubstr("f.csv:1"));
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

}  // namespace
}  // namespace bic
