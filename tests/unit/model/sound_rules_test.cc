// SPDX-License-Identifier: Apache-2.0
// Rules of requests about the sound of a video.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/resolve.h"
#include "tests/unit/model/example_card.h"
#include "tests/unit/model/resolve_example.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Resolve, LoudnessNeedsSoundAndIsALevelThatSoundCanHave) {
  ModelCard card = ExampleCard();
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.normalise_loudness = -23;
  const auto refused = [&] { return Resolve(spec, card, RequestLimits(), 1).violations; };
  EXPECT_THAT(refused(), ElementsAre(Violation("normalise_loudness", "has no sound")));
  card.sound = {.sample_rate = 48'000, .channels = 2};
  EXPECT_THAT(refused(), IsEmpty());
  spec.sound = false;
  EXPECT_THAT(refused(), ElementsAre(Violation("normalise_loudness", "has no sound")));
  spec.sound = true;
  for (const double bad : {-70.1, -4.9, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    spec.normalise_loudness = bad;
    EXPECT_THAT(refused(), ElementsAre(Violation("normalise_loudness", "between -70 and -5")));
  }
}

Condition OwnSound() {
  Condition condition;
  condition.kind = Condition::Kind::kAudio;
  condition.size_bytes = 1000;
  return condition;
}

TEST(Resolve, ASoundNeedsAModelThatReadsSounds) {
  ModelCard card = ExampleCard();
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.conditions = {OwnSound()};
  const auto refused = [&] { return Resolve(spec, card, RequestLimits(), 1).violations; };
  EXPECT_THAT(refused(), ElementsAre(Violation("conditions[0].audio", "makes no sound")));
  card.sound = {.sample_rate = 48'000, .channels = 2};
  EXPECT_THAT(refused(), ElementsAre(Violation("conditions[0].audio", "cannot read sounds")));
  card.own_sound = {.sample_rate = 16'000, .channels = 2};
  EXPECT_THAT(refused(), IsEmpty());
  card.supports_conditions = false;
  EXPECT_THAT(refused(), IsEmpty()) << "of pictures";
  spec.conditions.push_back({});
  spec.conditions[1].size_bytes = 1000;
  EXPECT_THAT(refused(),
              ElementsAre(Violation("conditions", "1 pictures and clips given, but this model")));
}

TEST(Resolve, AVideoHasOneSoundThatBeginsWithItAndIsHeldAsItIs) {
  ModelCard card = ExampleCard();
  card.sound = {.sample_rate = 48'000, .channels = 2};
  card.own_sound = {.sample_rate = 16'000, .channels = 2};
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.conditions = {OwnSound(), OwnSound()};
  const auto refused = [&] { return Resolve(spec, card, RequestLimits(), 1).violations; };
  EXPECT_THAT(refused(), ElementsAre(Violation("conditions[1].audio", "is a second sound")));
  spec.conditions = {OwnSound()};
  spec.conditions[0].frame_index = 8;
  EXPECT_THAT(refused(), ElementsAre(Violation("conditions[0].frame_index", "8, but a sound")));
  spec.conditions[0].frame_index = 0;
  spec.conditions[0].strength = 0.5;
  EXPECT_THAT(refused(), ElementsAre(Violation("conditions[0].strength", "0.5, but a sound")));
  spec.conditions[0].strength = 1;
  EXPECT_THAT(refused(), IsEmpty());
}

}  // namespace
}  // namespace reel::model
