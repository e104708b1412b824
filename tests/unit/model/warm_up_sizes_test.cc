// SPDX-License-Identifier: Apache-2.0
#include "model/warm_up_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/model/example_card.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;

Preset OfSize(int width, int height, int frames) {
  Preset preset;
  preset.values.width = width;
  preset.values.height = height;
  preset.values.num_frames = frames;
  return preset;
}

// Its default is 704x480 with 97 frames.
ModelCard PlainCard(std::vector<Preset> presets = {}) {
  ModelCard card = ExampleCard();
  card.presets = std::move(presets);
  return card;
}

TEST(WarmUpSizes, AreASmallOneTheDefaultAndTheLargestOfThePresets) {
  const ModelCard card = PlainCard({OfSize(768, 512, 121), OfSize(1216, 704, 121),
                                    OfSize(1024, 704, 121), OfSize(512, 512, 97)});
  EXPECT_THAT(
      UsualWarmUpSizes(card),
      ElementsAre(WarmUpSize{256, 256, 25}, WarmUpSize{704, 480, 97}, WarmUpSize{1216, 704, 121}));
}

TEST(WarmUpSizes, APresetThatLeavesTheSizeOutHasTheDefaultOne) {
  EXPECT_THAT(
      UsualWarmUpSizes(PlainCard({OfSize(0, 0, 121), OfSize(0, 0, 0)})),
      ElementsAre(WarmUpSize{256, 256, 25}, WarmUpSize{704, 480, 97}, WarmUpSize{704, 480, 121}));
}

TEST(WarmUpSizes, ASmallerPresetIsTheSmallOne) {
  EXPECT_THAT(UsualWarmUpSizes(PlainCard({OfSize(256, 160, 25)})),
              ElementsAre(WarmUpSize{256, 160, 25}, WarmUpSize{704, 480, 97}));
}

TEST(WarmUpSizes, OfASmallModelThereAreFewer) {
  ModelCard card = PlainCard();
  card.defaults.width = card.defaults.height = 256;
  card.defaults.num_frames = 25;
  EXPECT_THAT(UsualWarmUpSizes(card), ElementsAre(WarmUpSize{256, 256, 25}));
  card.defaults.width = 192;
  EXPECT_THAT(UsualWarmUpSizes(card), ElementsAre(WarmUpSize{192, 256, 25}));
}

TEST(WarmUpSizes, LeaveOutWhatDoesNotFitBesideTheWeights) {
  ModelCard card = PlainCard({OfSize(1216, 704, 121)});
  card.memory.job = 1;
  card.memory.clip_pixel = 1;
  const int64_t of_default = int64_t{704} * 480 * 97, of_largest = int64_t{1216} * 704 * 121;
  const auto sizes_on = [&](int64_t left) {
    card.fit.emplace().usable = 1000 + left;
    card.weight_bytes = 1000;
    return UsualWarmUpSizes(card).size();
  };
  EXPECT_EQ(sizes_on(of_largest + 1), 3);
  EXPECT_EQ(sizes_on(of_largest), 2);
  EXPECT_EQ(sizes_on(of_default), 1);
  EXPECT_EQ(sizes_on(0), 1) << "the small one is the first to say that nothing fits";
}

TEST(WarmUpSizes, KeepToTheModelsLimits) {
  ModelCard card = PlainCard({OfSize(1216, 704, 257)});
  card.limits.max_latent_tokens = 20000;
  card.limits.min_size = 384;
  card.limits.max_frames = 20;
  card.defaults.num_frames = 17;
  EXPECT_THAT(UsualWarmUpSizes(card),
              ElementsAre(WarmUpSize{384, 384, 17}, WarmUpSize{704, 480, 17}));
}

TEST(WarmUpSizes, HaveTheFewestFramesThatTheModelNeeds) {
  ModelCard card = PlainCard({OfSize(1216, 704, 121)});
  card.limits.min_frames = 33;
  EXPECT_EQ(UsualWarmUpSizes(card).front(), (WarmUpSize{256, 256, 33}));
}

}  // namespace
}  // namespace reel::model
