#include "results_schema/render/badge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <pugixml.hpp>
#include <set>

namespace bic::signing {
namespace {

using testing::HasSubstr;

constexpr Seconds kNow = 1'796'083'200;  // 2026-12-01

Certificate certificate() {
  return {.subjects = {{"mm.so", std::string(64, 'a')}},
          .verifier = "urn:bi-conform:verifier:f00d",
          .policies = {},
          .reports = {},
          .suite = "0.1.0",
          .programs = {},
          .strength = "standard",
          .device = "cpu",
          .isa = "avx2 fma",
          .level = Level::kComposition,
          .ops_covered = 3,
          .ops_total = 47,
          .profiles = {},
          .created = kNow,
          .expires = kNow + 90 * kDay};
}

/// The picture, read again.
struct Drawn {
  explicit Drawn(const Certificate& c,
                 Seconds now = kNow,
                 const std::optional<ProfileLevel>& of = {}) {
    text = badge(c, of, now);
    EXPECT_TRUE(document.load_string(text.c_str()));
    svg = document.child("svg");
  }
  std::string colour(int box) const {
    auto rect = svg.child("rect");
    for (int i = 0; i < box; ++i) rect = rect.next_sibling("rect");
    return rect.attribute("fill").value();
  }

  std::string text;
  pugi::xml_document document;
  pugi::xml_node svg;
};

TEST(Badge, SaysLevelOpsAndLastDay) {
  EXPECT_EQ(badge_words(certificate(), {}, kNow), "BI-2 on 3 of 47 ops, until 2027-03-01");
  const ProfileLevel pi0{"pi0", DType::kBFloat16, Level::kSchedule};
  EXPECT_EQ(badge_words(certificate(), pi0, kNow), "BI-3 pi0 bf16, until 2027-03-01");
}

TEST(Badge, IsGreyFromTheSecondInWhichItExpires) {
  const Certificate c = certificate();
  EXPECT_EQ(badge_words(c, {}, c.expires), "BI-2 on 3 of 47 ops, expired 2027-03-01");
  const Drawn last(c, c.expires - 1), expired(c, c.expires);
  EXPECT_NE(last.colour(1), "#6b6b6b");
  EXPECT_EQ(expired.colour(1), "#6b6b6b");
}

TEST(Badge, IsReadAloud) {
  const Drawn drawn(certificate());
  const std::string title = "batch invariance: BI-2 on 3 of 47 ops, until 2027-03-01";
  EXPECT_STREQ(drawn.svg.attribute("role").value(), "img");
  EXPECT_EQ(drawn.svg.attribute("aria-label").value(), title);
  EXPECT_EQ(drawn.svg.child_value("title"), title);
  EXPECT_THAT(drawn.svg.child_value("desc"), HasSubstr("standard, on cpu with avx2 fma"));
  EXPECT_THAT(drawn.svg.child_value("desc"), HasSubstr("urn:bi-conform:verifier:f00d"));
}

TEST(Badge, HoldsBothBoxesSideBySide) {
  const Drawn drawn(certificate());
  int end = 0;
  for (const pugi::xml_node box : drawn.svg.children("rect")) {
    EXPECT_EQ(box.attribute("x").as_int(), end);
    end += box.attribute("width").as_int();
  }
  EXPECT_EQ(drawn.svg.attribute("width").as_int(), end);
}

// Whoever certifies chooses these texts; none may become markup or a script.
TEST(Badge, TakesNoMarkupFromTheCertificate) {
  Certificate c = certificate();
  c.suite = "<script>alert(1)</script>\x01";
  c.isa = "\" onload=\"x";
  const ProfileLevel of{"]]><a href=\"x\">", DType::kFloat32, Level::kBatch};
  const Drawn drawn(c, kNow, of);
  EXPECT_FALSE(drawn.svg.find_node([](const pugi::xml_node& n) {
    return std::string_view(n.name()) == "script" || std::string_view(n.name()) == "a";
  }));
  EXPECT_THAT(drawn.svg.child_value("desc"), HasSubstr("<script>alert(1)</script>?"));
}

/// Relative luminance of "#rrggbb" as WCAG 2.1 defines it.
double luminance(const std::string& colour) {
  const std::array weights{0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    sum += weights[i] * (part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

TEST(Badge, IsReadableInEveryColour) {
  std::set<std::string> colours;
  for (int level = -1; level <= 4; ++level) {
    Certificate c = certificate();
    c.level = static_cast<Level>(level);
    const Drawn drawn(c);
    for (const int box : {0, 1}) {
      EXPECT_GE(1.05 / (luminance(drawn.colour(box)) + 0.05), 4.5) << drawn.colour(box);
    }
    colours.insert(drawn.colour(1));
  }
  EXPECT_EQ(colours.size(), 6) << "levels are told apart";
}

TEST(Badge, IsTheSameBytesEachTime) {
  EXPECT_EQ(Drawn(certificate()).text, Drawn(certificate(), kNow + kDay).text);
}

}  // namespace
}  // namespace bic::signing
