#include "results_schema/case_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/error.h"

namespace bic {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

CaseName product() {
  CaseName c;
  c.op = "mm";
  c.relation = "alone";
  c.dtype = DType::kBFloat16;
  c.dims = {{"n", 1024}, {"k", 4096}};
  c.trials.resize(2);
  c.trials[0].batch = 7;
  c.trials[0].position = 3;
  c.trials[0].sample = {42};
  c.trials[1].sample = {42};
  c.fill = Law::kCancel;
  c.seed = {0x9f3c51d20b7e4a11};
  return c;
}

constexpr auto kProduct = "mm.alone/bf16:k4096,n1024:B7@3#42~B1#42:fill=cancel:s=9f3c51d20b7e4a11";

Trial everything() {
  Trial t;
  t.batch = 7;
  t.position = 3;
  t.sample = {42};
  t.company = Company::kTwins;
  t.neighbours = 1;
  t.permutation = 2;
  t.offset = 3;
  t.row_gap = 5;
  t.storage = Storage::kExpanded;
  t.form = Form::kInplace;
  t.pad_dim = "k";
  t.pad = 8;
  t.threads = -1;
  t.run = 1;
  t.worker = 1;
  return t;
}

constexpr auto kEverything =
    "B7@3#42,plan=twins,nb=1,perm=2,o=3,ld=5,store=e,form=inplace,kpad=8,t=over,run=1,worker=1";

TEST(CaseName, TellsPaddingByNanFromPaddingByZeros) {
  Trial t;
  t.pad_dim = "s";
  t.pad = 61;
  t.pad_nan = true;
  EXPECT_EQ(to_string(t), "B1#0,spadnan=61");
  const auto parsed =
      parse_case_name("mm.pad/fp32:k4:B1#0,spadnan=61~B1#0:fill=ones:s=0000000000000001");
  EXPECT_EQ(parsed.trials[0], t);
}

TEST(CaseName, WritesOnlyWhatIsNotDefault) { EXPECT_EQ(to_string(product()), kProduct); }

TEST(CaseName, ReadsWhatItWrites) { EXPECT_EQ(parse_case_name(kProduct), product()); }

TEST(CaseName, WritesEveryFieldOfATrialInOrder) { EXPECT_EQ(to_string(everything()), kEverything); }

TEST(CaseName, KeepsVariantAttributesAndNeighbourLaw) {
  CaseName c = product();
  c.op = "gelu";
  c.variant = "2d";
  c.dims = {{"n", 0}};
  c.attributes = {{"eps", "-0x1.8p+3"}, {"approximate", "tanh"}};
  c.trials = {everything()};
  c.fill = Law::kNormal;
  c.neighbour_law = Law::kSpecial;
  c.seed = {1};
  const std::string text =
      "gelu-2d.alone/bf16:n0:approximate=tanh,eps=-0x1.8p+3:" + std::string(kEverything) +
      ":fill=normal+special:s=0000000000000001";
  EXPECT_EQ(to_string(c), text);
  EXPECT_EQ(parse_case_name(text), c);
}

TEST(CaseName, MayHaveNoDims) {
  const std::string text = "relu.repeat/fp32::B1#0:fill=ones:s=0000000000000000";
  EXPECT_TRUE(parse_case_name(text).dims.empty());
  EXPECT_EQ(to_string(parse_case_name(text)), text);
}

TEST(CaseName, EndsInTheIdOfAPublicReport) {
  CaseName c = product();
  c.id = "c01";
  EXPECT_EQ(to_string(c), std::string(kProduct) + ":id=c01");
  EXPECT_EQ(parse_case_name(to_string(c)), c);
  c.attributes = {{"id", "3"}};
  EXPECT_EQ(parse_case_name(to_string(c)), c);
}

struct Malformed {
  const char* text;
  const char* field;
  const char* says;
};

// Each differs from a good text in one place.
constexpr Malformed kMalformed[] = {
    {"", "dtype", "'' has no /DTYPE"},
    {"mm.alone:k4:B1#4:fill=ones:s=0000000000000001", "dtype", "'mm.alone' has no /DTYPE"},
    {"mm/bf16:k4:B1#4:fill=ones:s=0000000000000001", "relation", "'mm' has no .RELATION"},
    {"Mm.alone/bf16:k4:B1#4:fill=ones:s=0000000000000001", "op", "'Mm' is not an op"},
    {".alone/bf16:k4:B1#4:fill=ones:s=0000000000000001", "op", "'' is not an op"},
    {"mm-.alone/bf16:k4:B1#4:fill=ones:s=0000000000000001", "variant", "'mm-' has no variant"},
    {"mm-a-b.alone/bf16:k4:B1#4:fill=ones:s=0000000000000001", "variant", "'mm-a-b'"},
    {"mm.al one/bf16:k4:B1#4:fill=ones:s=0000000000000001", "relation", "'al one'"},
    {"mm.alone/bf61:k4:B1#4:fill=ones:s=0000000000000001", "dtype", "'bf61' is not a dtype"},
    {"mm.alone/bf16", "dims", "ends before it"},
    {"mm.alone/bf16:k40x6:B1#4:fill=ones:s=0000000000000001",
     "dims",
     "'k40x6' is not NAME NUMBER; expected e.g. k4096,n1024"},
    {"mm.alone/bf16:4:B1#4:fill=ones:s=0000000000000001", "dims", "'4' is not NAME NUMBER"},
    {"mm.alone/bf16:k4,:B1#4:fill=ones:s=0000000000000001", "dims", "'' is not NAME NUMBER"},
    {"mm.alone/bf16:k-4:B1#4:fill=ones:s=0000000000000001", "dims", "'k-4' is not NAME NUMBER"},
    {"mm.alone/bf16:n4,k4:B1#4:fill=ones:s=0000000000000001", "dims", "expected 'k4,n4'"},
    {"mm.alone/bf16:k4,k4:B1#4:fill=ones:s=0000000000000001", "dims", "expected 'k4'"},
    {"mm.alone/bf16:k04:B1#4:fill=ones:s=0000000000000001", "dims", "expected 'k4'"},
    {"mm.alone/bf16:k9223372036854775808:B1#4:fill=ones:s=0000000000000001",
     "dims",
     "is not NAME NUMBER"},
    {"mm.alone/bf16:k4:eps:B1#4:fill=ones:s=0000000000000001", "attributes", "'eps' is not NAME"},
    {"mm.alone/bf16:k4:eps=:B1#4:fill=ones:s=0000000000000001", "attributes", "'eps='"},
    {"mm.alone/bf16:k4:a=$x:B1#4:fill=ones:s=0000000000000001", "attributes", "'a=$x'"},
    {"mm.alone/bf16:k4:b=1,a=1:B1#4:fill=ones:s=0000000000000001", "attributes", "'a=1,b=1'"},
    {"mm.alone/bf16:k4::B1#4:fill=ones:s=0000000000000001", "attributes", "'' is not NAME=VALUE"},
    {"mm.alone/bf16:k4:fill=ones:s=0000000000000001", "trial", "'fill=ones' is not BATCH"},
    {"mm.alone/bf16:k4:B1:fill=ones:s=0000000000000001", "trial", "'B1' is not BATCH"},
    {"mm.alone/bf16:k4:b1#4:fill=ones:s=0000000000000001", "trial", "'b1#4' is not BATCH"},
    {"mm.alone/bf16:k4:B#4:fill=ones:s=0000000000000001", "trial", "'B#4' is not BATCH"},
    {"mm.alone/bf16:k4:B1#:fill=ones:s=0000000000000001", "trial", "'B1#' is not BATCH"},
    {"mm.alone/bf16:k4:B1#4294967296:fill=ones:s=0000000000000001", "trial", "is not BATCH"},
    {"mm.alone/bf16:k4:B0#4:fill=ones:s=0000000000000001", "trial", "a batch of 0"},
    {"mm.alone/bf16:k4:B7@7#4:fill=ones:s=0000000000000001", "trial", "position 7 outside"},
    {"mm.alone/bf16:k4:B7@0#4:fill=ones:s=0000000000000001", "trial", "expected 'B7#4'"},
    {"mm.alone/bf16:k4:B7#4~:fill=ones:s=0000000000000001", "trial", "'' is not BATCH"},
    {"mm.alone/bf16:k4:B7#4,q=1:fill=ones:s=0000000000000001", "trial", "has the item 'q=1'"},
    {"mm.alone/bf16:k4:B7#4,o:fill=ones:s=0000000000000001", "trial", "has the item 'o'"},
    {"mm.alone/bf16:k4:B7#4,o=-1:fill=ones:s=0000000000000001", "trial", "has the item 'o=-1'"},
    {"mm.alone/bf16:k4:B7#4,o=0:fill=ones:s=0000000000000001", "trial", "expected 'B7#4'"},
    {"mm.alone/bf16:k4:B7#4,t=2,o=1:fill=ones:s=0000000000000001", "trial", "'B7#4,o=1,t=2'"},
    {"mm.alone/bf16:k4:B7#4,t=many:fill=ones:s=0000000000000001", "trial", "item 't=many'"},
    {"mm.alone/bf16:k4:B7#4,plan=alone:fill=ones:s=0000000000000001", "trial", "'plan=alone'"},
    {"mm.alone/bf16:k4:B7#4,store=x:fill=ones:s=0000000000000001", "trial", "item 'store=x'"},
    {"mm.alone/bf16:k4:B7#4,form=functional:fill=ones:s=0000000000000001", "trial", "'B7#4'"},
    {"mm.alone/bf16:k4:B7#4,pad=8:fill=ones:s=0000000000000001", "trial", "pads no dim"},
    {"mm.alone/bf16:k4:B7#4,kpad=0:fill=ones:s=0000000000000001", "trial", "by no number"},
    {"mm.alone/bf16:k4:B7#4,kpad=1,npad=2:fill=ones:s=0000000000000001", "trial", "'B7#4,npad=2'"},
    {"mm.alone/bf16:k4:B7#4", "fill", "ends before it"},
    {"mm.alone/bf16:k4:B7#4:ones:s=0000000000000001", "fill", "does not begin with fill="},
    {"mm.alone/bf16:k4:B7#4:fill=one:s=0000000000000001", "fill", "'fill=one' has no such law"},
    {"mm.alone/bf16:k4:B7#4:fill=ones+:s=0000000000000001", "fill", "no such law for neighbours"},
    {"mm.alone/bf16:k4:B7#4:fill=ones", "seed", "ends before it"},
    {"mm.alone/bf16:k4:a=1:B7#4:fill=ones", "seed", "ends before it"},
    {"mm.alone/bf16:k4:B7#4:fill=ones:0000000000000001", "seed", "does not begin with s="},
    {"mm.alone/bf16:k4:B7#4:fill=ones:s=000000000000000g", "seed", "is not hex"},
    {"mm.alone/bf16:k4:B7#4:fill=ones:s=1", "seed", "expected 's=0000000000000001'"},
    {"mm.alone/bf16:k4:B7#4:fill=ones:s=000000000000000A", "seed", "'s=000000000000000a'"},
    {"mm.alone/bf16:k4:a=1:B7#4:fill=ones:s=0000000000000001:x", "seed", "'x' follows it"},
    {"mm.alone/bf16:k4:B7#4:fill=ones:s=0000000000000001:id=", "id", "'id=' is not the id"},
    {"mm.alone/bf16:k4:B7#4:fill=ones:s=0000000000000001:id=C01", "id", "'id=C01' is not the id"},
    {"mm.alone/bf16:k4:B7#4:fill=ones:s=0000000000000001:id=c_1", "id", "'id=c_1' is not the id"},
    {"mm.alone/bf16:k4:B7#4:fill=ones:id=c1", "seed", "ends before it"},
    {"mm.alone/bf16:k4:B7#4:fill=ones:id=c1:s=0000000000000001", "attributes", "'B7#4'"},
};

TEST(CaseName, NamesTheFieldAtFault) {
  for (const Malformed& malformed : kMalformed) {
    try {
      parse_case_name(malformed.text);
      ADD_FAILURE() << "accepted: " << malformed.text;
    } catch (const UsageError& error) {
      const std::string line = error.what();
      EXPECT_THAT(line, StartsWith("case string: field '" + std::string(malformed.field) + "': "))
          << malformed.text;
      EXPECT_THAT(line, HasSubstr(malformed.says)) << malformed.text;
      EXPECT_THAT(line, HasSubstr("; expected ")) << malformed.text;
    }
  }
}

TEST(CaseName, ShowsAHostileTextInOneShortLine) {
  try {
    parse_case_name(std::string(5000, '\n'));
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_LT(std::string(error.what()).size(), 250u);
  }
}

// A field without a text must not be written as some other case's name.
TEST(CaseName, RefusesToWriteWhatItCouldNotRead) {
  const std::vector<void (*)(CaseName&)> breaks = {
      [](CaseName& c) { c.op = "a.b"; },
      [](CaseName& c) { c.op = ""; },
      [](CaseName& c) { c.variant = "a-b"; },
      [](CaseName& c) { c.relation = "a/b"; },
      [](CaseName& c) {
        c.dims = {{"k1", 4}};
      },
      [](CaseName& c) {
        c.dims = {{"k", -4}};
      },
      [](CaseName& c) {
        c.attributes = {{"a", ""}};
      },
      [](CaseName& c) {
        c.attributes = {{"a", "[1, 2]"}};
      },
      [](CaseName& c) { c.trials.clear(); },
      [](CaseName& c) { c.trials[0].batch = 0; },
      [](CaseName& c) { c.trials[0].position = 7; },
      [](CaseName& c) { c.trials[0].offset = -1; },
      [](CaseName& c) { c.trials[0].threads = -2; },
      [](CaseName& c) { c.trials[0].pad = 8; },
      [](CaseName& c) { c.trials[0].pad_dim = "k"; },
      [](CaseName& c) { c.id = "c:1"; },
  };
  for (std::size_t i = 0; i < breaks.size(); ++i) {
    CaseName c = product();
    breaks[i](c);
    EXPECT_THROW(to_string(c), HarnessError) << "break " << i;
  }
}

}  // namespace
}  // namespace bic
