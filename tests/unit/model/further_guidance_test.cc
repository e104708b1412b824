// SPDX-License-Identifier: Apache-2.0
// Guidance beside the negative prompt's, as requests ask for it and cards allow it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "model/resolve.h"
#include "tests/unit/model/example_card.h"
#include "tests/unit/model/resolve_example.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Resolve, FillsGuidanceFromTheCard) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  const GenerationSpec spec = ResolveExample(sent).spec;
  EXPECT_EQ(spec.stg_scale, 1);
  EXPECT_THAT(spec.stg_blocks, ElementsAre(14));
  EXPECT_EQ(spec.condition_crf, 33);
  EXPECT_EQ(spec.modality_scale, std::nullopt);
}

TEST(Resolve, RefusesScalesThatAreNoNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {nan, -0.001, 20.5, 1e300}) {
    EXPECT_THAT(With([&](auto& s) { s.stg_scale = bad; }),
                ElementsAre(Violation("stg_scale", "between 0 and 20")));
  }
  EXPECT_THAT(With([](auto& s) { s.condition_crf = 52; }),
              ElementsAre(Violation("condition_crf", "nearest: 51")));
}

TEST(Resolve, ChecksPerturbedBlocks) {
  EXPECT_THAT(With([](auto& s) { s.stg_blocks = {0, 27}; }), IsEmpty());
  EXPECT_THAT(With([](auto& s) { s.stg_blocks = {27, 28, -1}; }),
              ElementsAre(Violation("stg_blocks[1]", "nearest: 27"),
                          Violation("stg_blocks[2]", "nearest: 0")));
  EXPECT_THAT(With([](auto& s) { s.stg_blocks = {3, 4, 3}; }),
              ElementsAre(Violation("stg_blocks[2]", "3 is there twice")));
  EXPECT_THAT(With([](auto& s) { s.stg_blocks.assign(29, 1); }),
              ElementsAre(Violation("stg_blocks", "29 is not between 1 and 28")));
}

TEST(Resolve, RefusesGuidanceThatTheModelDoesNotHave) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.audio_guidance_scale = 7;
  sent.modality_scale = 3;
  EXPECT_THAT(ResolveExample(sent).violations,
              ElementsAre(Violation("audio_guidance_scale", "does not support"),
                          Violation("modality_scale", "does not support")));
  ModelCard plain = ExampleCard();
  plain.limits.stg_blocks = 0;
  plain.defaults.stg_scale.reset();
  plain.defaults.stg_blocks.clear();
  plain.defaults.condition_crf.reset();
  GenerationSpec perturbed;
  perturbed.prompt = "a fox";
  perturbed.stg_scale = 1;
  perturbed.stg_blocks = {1};
  perturbed.condition_crf = 0;
  EXPECT_THAT(ResolveExample(perturbed, plain).violations,
              ElementsAre(Violation("stg_scale", "does not support"),
                          Violation("stg_blocks", "does not support"),
                          Violation("condition_crf", "does not support")));
}

}  // namespace
}  // namespace reel::model
