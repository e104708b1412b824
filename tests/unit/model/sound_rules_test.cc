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

}  // namespace
}  // namespace reel::model
