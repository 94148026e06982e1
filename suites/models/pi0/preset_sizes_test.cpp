#include <gtest/gtest.h>

#include "suites/models/pi0/config.h"
#include "suites/ops/declarations.h"

namespace bic::pi0 {
namespace {

/// Extents of an input's or the output's block of one sample.
std::vector<std::int64_t> block(const bic::Variant& v, const std::string& name) {
  for (const TensorSpec& t : v.inputs) {
    if (t.name == name) return block_shape(t, {});
  }
  return {};
}

/// The op's declaration includes nothing of the model: its sizes stand there again.
TEST(PresetSizes, OfTheOpAreThoseOfTheModel) {
  const OpSpec op = ops::pi0();
  std::vector<std::string> names;
  for (const bic::Variant& v : op.variants) {
    names.push_back(preset_name(v));
    const Config c = preset(names.back());
    const bool openpi = c.variant == Variant::kOpenPi;
    const std::int64_t side = c.vision.image;
    using Block = std::vector<std::int64_t>;
    EXPECT_EQ(block(v, "pixels"),
              openpi ? (Block{1, c.images, 3, side, side}) : (Block{1, 3, side, side}));
    EXPECT_EQ(block(v, "cameras"), openpi ? (Block{1, c.images}) : Block{});
    EXPECT_EQ(block(v, "text"), (Block{1, c.text_slots}));
    EXPECT_EQ(block(v, openpi ? "state" : "proprios"),
              openpi ? (Block{1, c.state_dim}) : (Block{1, 1, c.state_dim}));
    EXPECT_EQ(block(v, "noise"), (Block{1, c.action_tokens, c.action_dim}));
    EXPECT_EQ(block_shape(v.output, {}), block(v, "noise"));
    for (const TensorSpec& t : v.inputs) {
      // Of the text only, not what stands for images; a text may be empty or fill its slots.
      const std::string below = t.name == "text"      ? std::to_string(c.image_id)
                                : t.name == "lengths" ? std::to_string(c.text_slots) + "+1"
                                                      : "";
      EXPECT_EQ(t.below, below) << t.name;
    }
  }
  EXPECT_EQ(names, preset_names());
}

}  // namespace
}  // namespace bic::pi0
