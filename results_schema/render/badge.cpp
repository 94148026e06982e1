#include "results_schema/render/badge.h"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "results_schema/render/xml_text.h"

namespace bic::signing {
namespace {

constexpr const char* kLabel = "batch invariance";
constexpr const char* kLabelColour = "#444444";
constexpr const char* kGrey = "#6b6b6b";
constexpr int kHeight = 20, kMargin = 6;

/// White text is readable on each of them: a contrast of 4.5 or more, as WCAG 2.1 asks.
const char* colour_of(Level level) {
  switch (level) {
    case Level::kNone:
      return kGrey;
    case Level::kRepeatable:
      return "#b04a00";
    case Level::kBatch:
      return "#8a6100";
    case Level::kComposition:
      return "#00708a";
    case Level::kSchedule:
      return "#2e7d32";
    case Level::kPlatform:
      return "#1b5e20";
  }
  return kGrey;
}

/// Of a sans serif of 11 pixels, roughly: the reader's font is made to fit it (textLength).
int width_of(std::string_view text) {
  int tenths = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // goes on with a character
    const bool narrow = std::string_view("fijlrt-,.:;|!()[] ").find(c) != std::string_view::npos;
    const bool wide = (c >= 'A' && c <= 'Z' && c != 'I') || c == 'm' || c == 'w';
    tenths += narrow ? 42 : wide ? 82 : 68;
  }
  return (tenths + 9) / 10;
}

void set(pugi::xml_node node, const char* key, const std::string& value) {
  node.append_attribute(key).set_value(report::xml_text(value).c_str());
}

void add_text(pugi::xml_node parent, const char* element, const std::string& text) {
  parent.append_child(element).text().set(report::xml_text(text).c_str());
}

/// A coloured box with white words in its middle. Returns where it ends.
int add_box(pugi::xml_node svg, int x, const std::string& words, const char* colour) {
  const int text = width_of(words), width = text + 2 * kMargin;
  pugi::xml_node box = svg.append_child("rect");
  set(box, "x", std::to_string(x));
  set(box, "width", std::to_string(width));
  set(box, "height", std::to_string(kHeight));
  set(box, "fill", colour);
  add_text(svg, "text", words);
  pugi::xml_node shown = svg.last_child();
  set(shown, "x", std::to_string(x + kMargin));
  set(shown, "y", "14");
  set(shown, "textLength", std::to_string(text));
  set(shown, "fill", "#ffffff");
  return x + width;
}

std::string day_of(Seconds time) { return time_text(time).substr(0, 10); }

}  // namespace

std::string badge_words(const Certificate& c, const std::optional<ProfileLevel>& of, Seconds now) {
  const std::string held =
      of ? fmt::format("{} {} {}", name(of->level), of->profile, name(of->dtype))
         : fmt::format("{} on {} of {} ops", name(c.level), c.ops_covered, c.ops_total);
  return fmt::format("{}, {} {}", held, c.expires <= now ? "expired" : "until", day_of(c.expires));
}

std::string badge(const Certificate& c, const std::optional<ProfileLevel>& of, Seconds now) {
  const std::string words = badge_words(c, of, now);
  const std::string title = fmt::format("{}: {}", kLabel, words);
  const char* colour = c.expires <= now ? kGrey : colour_of(of ? of->level : c.level);
  pugi::xml_document document;
  pugi::xml_node svg = document.append_child("svg");
  set(svg, "xmlns", "http://www.w3.org/2000/svg");
  set(svg, "role", "img");
  set(svg, "aria-label", title);
  set(svg, "font-family", "Verdana,DejaVu Sans,sans-serif");
  set(svg, "font-size", "11");
  add_text(svg, "title", title);
  add_text(svg,
           "desc",
           fmt::format("bi-conform {}, {}, on {} with {}; certified by {}",
                       c.suite,
                       c.strength,
                       c.device,
                       c.isa,
                       c.verifier));
  const int width = add_box(svg, add_box(svg, 0, kLabel, kLabelColour), words, colour);
  set(svg, "width", std::to_string(width));
  set(svg, "height", std::to_string(kHeight));
  std::ostringstream out;
  document.save(out, " ", pugi::format_default | pugi::format_no_declaration, pugi::encoding_utf8);
  return out.str();
}

}  // namespace bic::signing
